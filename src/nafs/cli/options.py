"""Options that several commands share, and the graph and method that they describe."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from nafs.cli.console import Run
from nafs.graph import Graph
from nafs.readers import read_graph

READING = "Reading"
METHOD = "Method"
RESOURCES = "Resources"
OUTPUT = "Output"

EdgesArgument = Annotated[
    str,
    typer.Argument(
        metavar="EDGES",
        help="Edge list (.csv, .tsv, .txt, .parquet; compressed; a 'pattern*'), matrix (.mtx, .npz), "
        ".graphml, a saved graph's folder, or - for a text table on stdin.",
        show_default=False,
    ),
]
FeaturesOption = Annotated[
    Optional[str],
    typer.Option(
        "--features",
        "-f",
        help="Features: a table keyed by id, or a matrix (.npy, .npz, .mtx).",
        rich_help_panel=READING,
    ),
]
LabelsOption = Annotated[
    Optional[str],
    typer.Option(
        "--labels", "-l", help="Labels: a table with id and label, or .npy.", rich_help_panel=READING
    ),
]
SourceOption = Annotated[
    Optional[str], typer.Option(help="Column of the source ids, by name or number.", rich_help_panel=READING)
]
TargetOption = Annotated[
    Optional[str], typer.Option(help="Column of the target ids.", rich_help_panel=READING)
]
WeightOption = Annotated[
    Optional[str],
    typer.Option(
        help="Column of the weights [dim](default: one named weight, or the third of three unnamed)[/dim].",
        rich_help_panel=READING,
    ),
]
UnweightedOption = Annotated[
    bool, typer.Option("--unweighted", help="Ignore weights.", rich_help_panel=READING)
]
IgnoreOption = Annotated[
    Optional[str],
    typer.Option(
        "--ignore", help="Feature columns to leave out, separated by commas.", rich_help_panel=READING
    ),
]
IdOption = Annotated[
    Optional[str],
    typer.Option("--id", help="Id column of the feature and label tables.", rich_help_panel=READING),
]
LabelOption = Annotated[
    Optional[str],
    typer.Option("--label", help="Label column of the feature or label table.", rich_help_panel=READING),
]
DelimiterOption = Annotated[
    Optional[str], typer.Option(help="Delimiter of text tables; 'tab' for tabs.", rich_help_panel=READING)
]
HeaderOption = Annotated[
    Optional[bool],
    typer.Option(
        "--header/--no-header", help="Whether text tables start with column names.", rich_help_panel=READING
    ),
]
CommentOption = Annotated[
    Optional[str], typer.Option(help="Sign that starts a comment line.", rich_help_panel=READING)
]
MissingOption = Annotated[
    str,
    typer.Option(
        "--missing", help="Nodes that the features do not have: error, or zeros.", rich_help_panel=READING
    ),
]
DirectedOption = Annotated[
    bool, typer.Option("--directed", help="Keep the direction of edges.", rich_help_panel=READING)
]
SelfLoopsOption = Annotated[
    bool, typer.Option("--self-loops", help="Keep self-loops of the edge list.", rich_help_panel=READING)
]

HopsOption = Annotated[
    str,
    typer.Option(
        "--hops", "-k", help="K, the number of hops; auto chooses it without labels.", rich_help_panel=METHOD
    ),
]
PreprocessingOption = Annotated[
    Optional[str],
    typer.Option(
        help="Of the features: none, l2, tfidf, standardize, or auto by what they look like "
        "[dim](default: auto with --hops auto, else none)[/dim].",
        rich_help_panel=METHOD,
    ),
]
CenterOption = Annotated[
    str,
    typer.Option(
        help="What is taken away from every row: none, mean, stationary, or auto.", rich_help_panel=METHOD
    ),
]
GoalOption = Annotated[
    str, typer.Option(help="What --hops auto is good for: clusters or links.", rich_help_panel=METHOD)
]
ClustersOption = Annotated[
    Optional[int],
    typer.Option(
        "--clusters",
        help="Clusters that --hops auto looks for [dim](default: 8)[/dim].",
        rich_help_panel=METHOD,
    ),
]
ROption = Annotated[
    str,
    typer.Option("--r", help="Normalisations between 0 and 1, separated by commas.", rich_help_panel=METHOD),
]
EnsembleOption = Annotated[
    str, typer.Option(help="How the r's are combined: mean, max or concat.", rich_help_panel=METHOD)
]
WeightingOption = Annotated[
    str, typer.Option(help="Weights of the hops: adaptive, linear, average or last.", rich_help_panel=METHOD)
]
DistanceOption = Annotated[
    str, typer.Option(help="cosine, euclidean or stationary_cosine.", rich_help_panel=METHOD)
]
ColumnsOption = Annotated[
    int,
    typer.Option("--columns", help="Structural features made where none are given.", rich_help_panel=METHOD),
]
SeedOption = Annotated[int, typer.Option(help="Seed of the structural features.", rich_help_panel=METHOD)]

ReduceOption = Annotated[
    Optional[int],
    typer.Option(
        "--reduce-to",
        help="Make so many columns of wider features, before smoothing.",
        rich_help_panel=METHOD,
    ),
]
ReductionOption = Annotated[
    str, typer.Option(help="How: svd or random (projection).", rich_help_panel=METHOD)
]

ThreadsOption = Annotated[
    Optional[int], typer.Option(help="Threads [dim](default: all cores)[/dim].", rich_help_panel=RESOURCES)
]
MemoryOption = Annotated[
    Optional[str],
    typer.Option(
        "--memory-limit", help="Such as 4GB: for states, sums and the result.", rich_help_panel=RESOURCES
    ),
]
EngineOption = Annotated[
    str,
    typer.Option(
        help="Where hops run: memory, disk (files, within --memory-limit), dask; auto: memory if it fits.",
        rich_help_panel=RESOURCES,
    ),
]
WorkDirOption = Annotated[
    Optional[str],
    typer.Option(
        "--work-dir",
        help="Folder for the files of disk and dask [dim](default: OUTPUT.work)[/dim].",
        rich_help_panel=RESOURCES,
    ),
]
ResumeOption = Annotated[
    bool,
    typer.Option(
        "--resume", help="Go on with a run in the work folder that was broken off.", rich_help_panel=RESOURCES
    ),
]
SchedulerOption = Annotated[
    Optional[str],
    typer.Option(
        help="Address of a Dask scheduler [dim](default: workers on this machine)[/dim].",
        rich_help_panel=RESOURCES,
    ),
]
Float16Option = Annotated[
    bool,
    typer.Option("--float16", help="Keep the smoothed state in half precision.", rich_help_panel=RESOURCES),
]

ForceOption = Annotated[
    bool, typer.Option("--force", help="Overwrite an existing output.", rich_help_panel=OUTPUT)
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print errors only.", rich_help_panel=OUTPUT)
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print the summary as JSON on stdout.", rich_help_panel=OUTPUT)
]


def parse_hops(text: str) -> int | str:
    """A number, or auto."""
    if text.lower() == "auto":
        return "auto"
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"--hops takes a whole number or auto; got {text!r}") from None


def parse_r(text: str) -> tuple[float, ...]:
    """Numbers separated by commas."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"--r takes numbers separated by commas, such as 0,0.25,0.5; got {text!r}") from None


_COLUMNS = ("source", "target", "weight", "delimiter", "header", "comment", "missing")


def read(run: Run, given: dict[str, Any]) -> Graph:
    """The graph that a command's parameters, all of them by name, describe."""
    options = {name: given[name] for name in _COLUMNS}
    options |= {"id_column": given["id_column"], "label_column": given.get("label_column")}
    options |= {name: given.get(name, False) for name in ("directed", "self_loops")}
    if options["delimiter"] in ("tab", "\\t"):
        options["delimiter"] = "\t"
    if given["unweighted"]:
        options["weight"] = False
    if given.get("memory_limit") is not None:
        beside = Path(given.get("work_dir") or given.get("output") or ".").resolve().parent
        options |= {"memory_limit": given["memory_limit"], "scratch_dir": beside}
    options["ignore"] = [name for name in (given["ignore"] or "").split(",") if name]
    paths = [given["edges"], given["features"], given.get("labels")]
    if paths.count("-") > 1:
        raise ValueError("only one of EDGES, --features and --labels can come from stdin")
    with run.stage("read") as advance, _stdin_as_file(paths) as (a, b, c):
        assert a is not None
        graph = read_graph(a, b, c, progress=advance, **options)
    run.notes += [note for note in graph.notes if note not in run.notes]
    return graph


@contextmanager
def _stdin_as_file(paths: list[str | None]) -> Iterator[list[str | None]]:
    """The paths, with what comes on stdin in a temporary file, which can be opened more than once."""
    if "-" not in paths:
        yield paths
        return
    content = sys.stdin.buffer
    with tempfile.TemporaryDirectory(prefix="nafs-stdin-") as folder:
        head = content.read(16)
        spooled = Path(folder) / f"stdin{_ending(head)}"
        with spooled.open("wb") as file:
            file.write(head)
            shutil.copyfileobj(content, file)
        try:
            yield [str(spooled) if path == "-" else path for path in paths]
        except (ValueError, TypeError) as error:
            raise type(error)(str(error).replace(str(spooled), "stdin")) from None


def _ending(head: bytes) -> str:
    """The ending of a file's name by its first bytes."""
    if head.startswith(b"PAR1"):
        return ".parquet"
    if head.startswith(b"\x1f\x8b"):
        return ".csv.gz"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return ".csv.zst"
    return ".mtx" if head.startswith(b"%%MatrixMarket") else ".csv"
