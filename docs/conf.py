"""Sphinx as scikit-learn uses it: numpydoc for docstrings, sphinx-gallery for examples that run."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

from nafs.datasets.catalog import find
from nafs.datasets.download import is_present

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "nafs"
author = "the nafs developers"
copyright = "the nafs developers, Apache-2.0"  # noqa: A001 - the name that Sphinx requires
release = version = version_of("nafs")

extensions = [
    "formulas",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_templates", "data", "examples_built/**/*.ipynb"]
templates_path = ["_templates"]
nitpicky = False
numpydoc_show_class_members = False
autosummary_generate = True
autodoc_typehints = "none"
suppress_warnings = ["config.cache"]
# An example whose data set is not in the data folder is shown, but not run (make docs-data fetches it).
runs = "" if is_present(find("amazon-photo")) else "(?!copurchases)"
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples_built",
    "filename_pattern": f"/plot_{runs}",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
}
smartquotes = False  # "--labels" must not become a dash
html_math_renderer = "drawn"
html_static_path = ["_static"]
html_css_files = ["nafs.css"]
html_theme = "pydata_sphinx_theme"
html_title = "nafs"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_sidebars: dict[str, list[str]] = {page: [] for page in ("start", "install", "method", "report")}


def setup(app: object) -> None:
    """Write the pages that come from the program itself."""
    from generated_pages import write_pages

    write_pages(HERE / "reference")
