"""The page a person looks at."""

from nafs.report.contents import collect
from nafs.report.page import render, write_page

__all__ = ["collect", "render", "write_page"]
