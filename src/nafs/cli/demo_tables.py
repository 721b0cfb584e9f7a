"""`nafs demo --tables`: from two tables to answers, one command after the other."""

from __future__ import annotations

import shutil
from pathlib import Path

from nafs._support.atomic import whole_folder
from nafs._support.errors import InputError, Parameter
from nafs.cli.console import Run, results
from nafs.datasets.example_tables import FOLDER

_MODEL = "model"
_OUTPUTS = (
    "clusters.csv",
    "clusters.clusters.csv",
    "topics.csv",
    "papers.parquet",
    "updated.parquet",
    _MODEL,
)
# A heading for each job, and its command; names of tables and of the model are files of the demo.
_JOBS = (
    ("What is in it", "describe citations.csv --features papers.csv"),
    ("Clusters, described in words", "cluster citations.csv --features papers.csv -o clusters.csv"),
    (
        "Classes of all papers from forty labels",
        "classify citations.csv --features papers.csv --labels known_topics.csv -o topics.csv",
    ),
    ("Citations that are missing", "suggest-links citations.csv --features papers.csv -k 5"),
    ("Vectors", f"embed citations.csv --features papers.csv --hops auto -o papers.parquet --keep {_MODEL}"),
    ("The nearest papers of one", "similar papers.parquet P010 -k 3"),
    (
        "Tomorrow: new papers, without embedding the old ones again",
        f"update {_MODEL} --edges new_citations.csv --features new_papers.csv -o updated.parquet",
    ),
)


def demonstrate_tables(run: Run, folder: Path, *, force: bool) -> None:
    """Copy the example tables into a folder, and run the commands of the tutorial on them."""
    from nafs.cli.app import app  # which has this command too

    if run.as_json:
        raise InputError(Parameter("as_json"), " has no effect: several commands print their results")
    tables = sorted(FOLDER.glob("*.csv"))
    contents = [*(table.name for table in tables), *_OUTPUTS]
    with whole_folder(folder, force=force, contents=contents) as part:
        for table in tables:
            shutil.copyfile(table, part / table.name)
    for title, line in _JOBS:
        words = [str(folder / word) if _is_file(word) else word for word in line.split()]
        if not run.quiet:
            results.print(f"\n{title}", style="bold", soft_wrap=True)
            results.print(f"$ nafs {' '.join(words)}", style="cyan", markup=False, soft_wrap=True)
            results.file.flush()
        app([*words, *(["--quiet"] if run.quiet else [])], standalone_mode=False, prog_name="nafs")
        results.file.flush()


def _is_file(word: str) -> bool:
    return word == _MODEL or word.endswith((".csv", ".parquet"))
