"""The interactive page for exploring an embedding."""

from nafs.report.columns import Column, read_columns
from nafs.report.contents import collect
from nafs.report.page import render, write_page

__all__ = ["Column", "collect", "read_columns", "render", "write_page"]
