"""Options that many commands share: resources, results, messages.

Options of reading are in `nafs.cli.reading`, those of embedding in `nafs.cli.embedding_options`. Each option
is defined once. Fields have the names and defaults of the library's parameters.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from nafs._support.budget import check_limit, parse_memory
from nafs._support.errors import InputError, Parameter
from nafs.cli.console import Run
from nafs.cli.flags import flag, text_flag

RESOURCES = "Resources"
OUTPUT = "Output"
SMALLEST = 100 * 10**6  # bytes that Python and the libraries of the simplest command take, rounded up
LEARNING = 170 * 10**6  # with scikit-learn
COMPARING = 170 * 10**6  # with an index of all vectors, besides copies of them
LINKING = 320 * 10**6  # with the candidates of missing links, besides copies of the vectors


def _limit(text: str) -> str:
    check_limit(SMALLEST, parse_memory(text), "Python and the libraries of a command take", "raise it")
    return text


def check_learning(memory_limit: str | None) -> None:
    """Raise if scikit-learn, which some commands need, does not fit into a memory limit."""
    limit = parse_memory(memory_limit)
    check_limit(LEARNING, limit, "Python and scikit-learn, which this needs, take", "raise it")


def check_vectors(memory_limit: str | None, matrix: Any, program: int, purpose: str) -> None:
    """Raise if work on all vectors, which makes copies of them, does not fit into a memory limit."""
    check_limit(program + 6 * int(matrix.nbytes), parse_memory(memory_limit), f"{purpose} takes", "raise it")


MemoryLimit = Annotated[
    str | None,
    text_flag(
        "--memory-limit",
        metavar="SIZE",
        help="Stay within this much memory besides program code; larger graphs are processed in files.",
        parse=_limit,
        panel=RESOURCES,
    ),
]
Threads = Annotated[
    int | None,
    flag(
        "--threads",
        metavar="N",
        help="Number of threads [dim](default: all cores)[/dim].",
        panel=RESOURCES,
    ),
]
Force = Annotated[bool, flag("--force", help="Overwrite the output if it exists.", panel=OUTPUT)]
Quiet = Annotated[bool, flag("--quiet", "-q", help="Print nothing but errors and results.", panel=OUTPUT)]
Count = Annotated[int, flag("--count", "-k", help="How many to return.")]
TableFile = Annotated[
    str | None,
    flag(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the table here (.parquet, .csv, .tsv, .feather, .jsonl) instead of printing it.",
        panel=OUTPUT,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Printing:
    """Messages of a command that writes an output."""

    quiet: Quiet = False
    as_json: Annotated[
        bool,
        flag("--json", help="Print the result as JSON on stdout, for programs.", panel=OUTPUT),
    ] = False

    def start(self) -> Run:
        """The console of one command."""
        return Run(self.quiet, self.as_json)


@dataclass(frozen=True, kw_only=True)
class TablePrinting(Printing):
    """Messages of a command that prints a table."""

    as_csv: Annotated[
        bool,
        flag("--csv", help="Print the result as CSV on stdout, for programs and spreadsheets.", panel=OUTPUT),
    ] = False

    def start(self) -> Run:
        """The console of one command."""
        if self.as_json and self.as_csv:
            raise InputError("choose one of ", Parameter("as_json"), " and ", Parameter("as_csv"))
        return Run(self.quiet, self.as_json, self.as_csv)


def beside(path: str | os.PathLike[str] | None) -> Path | None:
    """The folder of an output, for temporary files that may be large."""
    return None if path is None or path == "-" else Path(path).resolve().parent
