"""The paper's tables, measured again beside the published numbers."""
