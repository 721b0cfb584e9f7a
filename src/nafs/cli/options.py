"""Options that many commands share: resources, results, messages.

Options of reading are in `nafs.cli.reading`, those of embedding in `nafs.cli.embedding_options`. Each option
is defined once. Fields have the names and defaults of the library's parameters.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from nafs._support.errors import InputError, Parameter
from nafs.cli.console import Run
from nafs.cli.flags import flag

RESOURCES = "Resources"
OUTPUT = "Output"

MemoryLimit = Annotated[
    str | None,
    flag(
        "--memory-limit",
        metavar="SIZE",
        help="Stay within this much memory, such as 4GB; larger graphs are processed in files.",
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
        help="Write the table here (.parquet, .csv, .tsv) instead of printing it.",
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
