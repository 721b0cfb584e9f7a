"""Reproduction of the paper's tables and figures, next to the published numbers."""
