"""What every room needs and no user calls: limits, checks, output that appears whole, scratch files."""
