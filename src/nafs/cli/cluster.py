"""`nafs cluster`: the cluster of every node, and what each cluster is about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from nafs._support.counted import counted
from nafs._support.errors import InputError, OutputExistsError, Parameter
from nafs.cli.embedding_options import EmbeddingOptions, RunOptions, count_or
from nafs.cli.flags import command, flag, text_flag
from nafs.cli.options import OUTPUT, Force, TablePrinting, beside, check_learning
from nafs.cli.reading import Edges, Reading, read, say_if_structural, with_own_names
from nafs.cli.similar import check_table_target, show_table, whole_table
from nafs.embedding import embed


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(EmbeddingOptions):
    """As for every embedding, with the number of clusters as the main option."""

    n_clusters: Annotated[
        int | str | None,
        text_flag(
            "--clusters",
            "-k",
            metavar="N|auto",
            help="Number of clusters, at most: empty ones are left out; auto chooses it.",
            parse=count_or("n_clusters", "auto"),
        ),
    ] = "auto"  # type: ignore[assignment]


FOR_CLUSTERS = ClusterOptions(n_hops="auto")


@command
def cluster(
    edges: Edges,
    reading: Reading,
    running: RunOptions,
    printing: TablePrinting,
    options: ClusterOptions = FOR_CLUSTERS,
    output: Annotated[
        str | None,
        flag(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the cluster of each node here (.parquet, .csv, .tsv), beside the columns of the "
            "feature table.",
            panel=OUTPUT,
        ),
    ] = None,
    described: Annotated[
        str | None,
        flag(
            "--describe",
            metavar="FILE",
            help="Write the table that describes each cluster here "
            "[dim](default: beside the output, as NAME.clusters.csv)[/dim].",
            panel=OUTPUT,
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Cluster the nodes of a graph without labels, and say what each cluster is about.

    The number of clusters is chosen too, unless --clusters gives it. Without an output, the command prints a
    table that describes the clusters. --output, --csv and --json give one row for each node instead.

    [dim]nafs cluster edges.csv -f features.csv -o clusters.csv[/dim]
    """
    run = printing.start()
    if output is not None and output == described:
        raise InputError(
            Parameter("output"), " and ", Parameter("described"), f" are the same file, {output}"
        )
    for target in (output, described):
        check_table_target(target, force=force)
    if output is not None and described is None:
        described = _beside(output, force=force)
    check_learning(options.memory_limit)
    graph = read(run, edges, reading, scratch_dir=beside(output))
    say_if_structural(run, graph)
    with run.stage("embed"):
        embedding = embed(graph, **options.for_library(running))
    assert embedding.choice is not None
    run.notes += embedding.choice.reasons
    with run.stage("describe"):
        answer = embedding.cluster(options.n_clusters or "auto", graph=graph)
    run.notes += [note for note in answer.clustering.reasons if note not in run.notes]
    if output is None and not (run.as_json or run.as_csv):
        show_table(run, answer.description(), described, force=force)
        return
    table = with_own_names(run, answer.to_arrow(), graph, reading, output)
    if described is None:
        show_table(run, table, output, force=force)
        return
    run.notes.append(f"{described} describes {counted(len(answer.described), 'cluster')}")
    with whole_table(answer.description(), described, force=force):  # both files appear, or none
        show_table(run, table, output, force=force)


def _beside(output: str, *, force: bool) -> str:
    """The file beside the output for the table that describes the clusters; nobody named it so far."""
    described = str(Path(output).with_suffix("")) + ".clusters.csv"
    try:
        check_table_target(described, force=force)
    except OutputExistsError:
        raise OutputExistsError(
            f"{described} exists already; the table that describes the clusters of {output} would be written "
            "there: name another file for it with ",
            Parameter("described"),
            ", or overwrite it with ",
            Parameter("force"),
        ) from None
    return described
