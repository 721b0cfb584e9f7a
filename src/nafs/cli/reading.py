"""The graph that a command works on: its options, and reading files, stdin or a public data set."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nafs._support.errors import InputError, Parameter
from nafs._support.meter import give_back
from nafs.cli.console import Run
from nafs.cli.flags import flag, reject_changes, switch, text_flag
from nafs.cli.options import MemoryLimit
from nafs.datasets.catalog import CATALOG
from nafs.graph import Graph
from nafs.readers import read_graph
from nafs.readers.joined import joined, with_id_name
from nafs.readers.spool import is_pipe, renamed, spool, with_names
from nafs.readers.tables import TableOptions
from nafs.writers.tables import TEXT

if TYPE_CHECKING:
    from nafs.datasets import Dataset

READING = "Reading the graph"

Edges = Annotated[
    str,
    typer.Argument(
        metavar="EDGES",
        help="Edge table (.csv, .tsv, .txt, .parquet, also .gz or .zst, or a 'pattern*'), matrix (.mtx, "
        ".npz), .graphml, the folder of a saved graph, or - for a table on stdin.",
        show_default=False,
    ),
]


# Shared with `nafs update`, which reads tables like those that its model was built from.
SourceColumn = Annotated[
    str | None,
    flag("--source", metavar="COLUMN", help="Column of source ids, by name or number.", panel=READING),
]
TargetColumn = Annotated[
    str | None,
    flag("--target", metavar="COLUMN", help="Column of target ids, by name or number.", panel=READING),
]
WeightColumn = Annotated[
    str | None,
    flag(
        "--weight",
        metavar="COLUMN",
        help="Column of the edge weights "
        "[dim](default: recognised by its name, or the third of three columns without names)[/dim].",
        panel=READING,
    ),
]
IdColumn = Annotated[
    str | None,
    flag("--id", metavar="COLUMN", help="Id column of the feature and label tables.", panel=READING),
]
Header = Annotated[
    bool | None,
    flag(
        "--header/--no-header",
        help="Whether text tables start with column names [dim](default: detected)[/dim].",
        panel=READING,
    ),
]


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(",") if name)


def _delimiter(text: str) -> str:
    return "\t" if text in ("tab", "\\t") else text


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How files become a graph: the parameters of `nafs.read_graph`."""

    features: Annotated[
        str | None,
        flag(
            "--features",
            "-f",
            metavar="FILE",
            help="Node features: a table with an id column, or a matrix with one row per node (.npy, "
            ".npz, .mtx).",
            panel=READING,
        ),
    ] = None
    labels: Annotated[
        str | None,
        flag(
            "--labels",
            "-l",
            metavar="FILE",
            help="Node labels: a table with the columns id and label, or .npy.",
            panel=READING,
        ),
    ] = None
    source: SourceColumn = None
    target: TargetColumn = None
    weight: WeightColumn = None
    unweighted: Annotated[
        bool,
        switch(
            "--unweighted",
            help="Ignore edge weights.",
            panel=READING,
            stands_for=Parameter("weight", False),
        ),
    ] = False
    id_column: IdColumn = None
    label_column: Annotated[
        str | None,
        flag("--label", metavar="COLUMN", help="Label column of the feature or label table.", panel=READING),
    ] = None
    id_type: Annotated[
        str,
        flag(
            "--ids",
            help="How ids are read: auto, or text to keep them as written, such as 0704.0001.",
            panel=READING,
        ),
    ] = "auto"
    ignore: Annotated[
        tuple[str, ...],
        text_flag(
            "--ignore",
            metavar="COLUMNS",
            help="Columns of the feature table to leave out, separated by commas.",
            parse=_names,
            write=",".join,
            panel=READING,
        ),
    ] = ()
    text: Annotated[
        tuple[str, ...],
        text_flag(
            "--text",
            metavar="COLUMNS",
            help="Columns of the feature table to read as text, if they are not recognised as such.",
            parse=_names,
            write=",".join,
            panel=READING,
        ),
    ] = ()
    category: Annotated[
        tuple[str, ...],
        text_flag(
            "--category",
            metavar="COLUMNS",
            help="Columns of the feature table that hold categories, such as numeric codes.",
            parse=_names,
            write=",".join,
            panel=READING,
        ),
    ] = ()
    delimiter: Annotated[
        str | None,
        text_flag(
            "--delimiter",
            metavar="SIGN",
            help="Delimiter of text tables, such as ';' or tab [dim](default: detected)[/dim].",
            parse=_delimiter,
            write=repr,
            panel=READING,
        ),
    ] = None
    header: Header = None
    comment: Annotated[
        str | None,
        flag(
            "--comment",
            metavar="SIGN",
            help="Character that starts a comment line anywhere; '' for none "
            "[dim](default: # and % above the first row)[/dim].",
            panel=READING,
        ),
    ] = None
    missing: Annotated[
        str,
        flag(
            "--missing",
            help="Nodes without a row in the feature table: error, or zeros to fill them.",
            panel=READING,
        ),
    ] = "error"
    directed: Annotated[
        bool, flag("--directed", help="Keep the direction of edges when smoothing.", panel=READING)
    ] = False
    self_loops: Annotated[
        bool, flag("--self-loops", help="Keep edges from a node to itself.", panel=READING)
    ] = False
    memory_limit: MemoryLimit = None

    def for_library(self) -> dict[str, Any]:
        """The keyword arguments of `nafs.read_graph`."""
        options = {entry.name: getattr(self, entry.name) for entry in fields(Reading)}
        if options.pop("unweighted"):
            options["weight"] = False
        return options


def read(run: Run, edges: str, reading: Reading, *, scratch_dir: Path | None = None) -> Graph:
    """Read the graph that the options of a command describe.

    ``scratch_dir`` is for the files of a graph that does not fit into ``--memory-limit``.
    """
    options = reading.for_library()
    paths = [edges, options.pop("features"), options.pop("labels")]
    if paths.count("-") > 1:
        raise InputError(
            "only one of ",
            Parameter("edges"),
            ", ",
            Parameter("features"),
            " and ",
            Parameter("labels"),
            " can come from stdin",
        )
    with run.stage("read") as advance, stdin_as_file(paths) as (files, names):
        first, features, labels = files
        assert first is not None
        graph = read_graph(first, features, labels, scratch_dir=scratch_dir, progress=advance, **options)
        if reading.memory_limit is not None:
            give_back()
        graph.notes = tuple(with_names(note, names) for note in graph.notes)
    run.notes += [note for note in graph.notes if note not in run.notes]
    return graph


def table_options(reading: Reading) -> TableOptions:
    """The options for reading the tables of a command."""
    return TableOptions(reading.delimiter, reading.header, reading.comment)


def with_own_names(run: Run, answers: Any, graph: Graph, reading: Reading, output: str | None) -> Any:
    """The answers with ids named as in the table of the features; in a file, beside its other columns."""
    answers = with_id_name(answers, graph.id_name)
    if output is None:
        return answers
    if reading.features is not None and (reading.features == "-" or is_pipe(reading.features)):
        run.notes.append("the features came from a pipe, so their columns are not repeated in the output")
        return answers
    options = table_options(reading)
    if options.header is None and "id_column" in graph.column_names:  # known since the table was read
        options = replace(options, header=True)
    whole = joined(answers, reading.features, options, as_written=output.lower().endswith(TEXT))
    if whole is None:
        run.notes.append(f"the rows of {reading.features} are not those of the nodes: {output} has ids only")
        return answers
    return whole


def say_if_structural(run: Run, graph: Graph) -> None:
    """Tell the user that a graph has no features, and what is used instead."""
    if graph.features is None:
        run.notes.append("the graph has no features: structural ones are computed from its edges")


def is_dataset(name: str) -> bool:
    """Whether a name means a public data set; a file of that name comes first."""
    return not Path(name).exists() and name.lower().replace("_", "-") in CATALOG


def load(run: Run, name: str, reading: Reading) -> Dataset:
    """Load a public data set; options for files are errors."""
    from nafs.datasets import load_dataset

    why = f"{name} is a data set with features and labels of its own"
    reject_changes(reading, Reading(), why, except_for=["memory_limit"])
    with run.stage("read"):
        return load_dataset(name, progress=not run.quiet)


@contextmanager
def stdin_as_file(paths: list[str | None]) -> Iterator[tuple[list[str | None], dict[str, str]]]:
    """The paths, with stdin copied to a temporary file, and the name of that file in messages."""
    if "-" not in paths:
        yield paths, {}
        return
    with tempfile.TemporaryDirectory(prefix="nafs-stdin-") as folder:
        spooled = spool(sys.stdin.buffer, Path(folder) / "stdin")
        names = {spooled: "stdin"}
        try:
            yield [spooled if path == "-" else path for path in paths], names
        except InputError as error:
            raise renamed(error, names) from None
