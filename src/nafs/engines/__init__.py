"""Where hops run. One engine so far: memory."""
