"""Run the notebooks and store their outputs: python tools/notebooks.py [FILE ...]."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"


def executed(path: Path, folder: Path = FOLDER) -> nbformat.NotebookNode:
    """The notebook with fresh outputs; raises at the first cell that fails."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of day, which would differ in every run
    return notebook


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(map(str, FOLDER.glob("*.ipynb"))):
        nbformat.write(executed(Path(name)), name)
        print(name)
