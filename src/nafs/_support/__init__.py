"""Private helpers for all packages: memory limits, checks, errors, atomic output and scratch files."""
