"""The small tables that ship with the package: made-up papers with text, categories, dates and gaps."""

from __future__ import annotations

import shutil
from pathlib import Path

from nafs._support.atomic import whole_folder

FOLDER = Path(__file__).parent / "example"


def example_table(name: str) -> Path:
    """The path of an example table.

    Parameters
    ----------
    name : str
        "papers", "citations", "known_topics", "all_topics", "new_papers", "new_citations" or "withdrawn".

    Examples
    --------
    >>> from nafs.datasets import example_table
    >>> example_table("papers").name
    'papers.csv'
    """
    path = FOLDER / f"{name}.csv"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in FOLDER.glob("*.csv")))
        raise FileNotFoundError(f"there is no example table {name!r}; there are {known}")
    return path


def copy_example_tables(folder: Path, *, force: bool = False) -> list[Path]:
    """Copy the example tables into a folder, which appears when it is complete."""
    tables = sorted(FOLDER.glob("*.csv"))
    with whole_folder(folder, force=force, contents=[table.name for table in tables]) as part:
        for table in tables:
            shutil.copyfile(table, part / table.name)
    return [folder / table.name for table in tables]
