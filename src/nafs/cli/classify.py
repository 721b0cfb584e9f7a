"""`nafs classify`: the class of every node, from the labels of some."""

from __future__ import annotations

from typing import Annotated

from nafs._support.budget import parse_memory
from nafs._support.counted import counted
from nafs._support.errors import InputError, Parameter
from nafs.answers import width_for_classes
from nafs.answers.room import check_room, what_fits
from nafs.cli.embedding_options import EmbeddingOptions, RunOptions
from nafs.cli.flags import command, flag
from nafs.cli.options import (
    OUTPUT,
    Force,
    TableFile,
    TablePrinting,
    beside,
    check_learning,
)
from nafs.cli.reading import Edges, Reading, read, say_if_structural, with_own_names
from nafs.cli.similar import check_table_target, show_table
from nafs.embedding import embed
from nafs.selection.choice import Choice

FOR_CLASSES = EmbeddingOptions(n_hops="auto")
AllProbabilities = Annotated[
    bool,
    flag(
        "--all-probabilities",
        help="A column for each class with its probability, to rank nodes by a rare class.",
        panel=OUTPUT,
    ),
]


@command
def classify(
    edges: Edges,
    reading: Reading,
    running: RunOptions,
    printing: TablePrinting,
    options: EmbeddingOptions = FOR_CLASSES,
    output: TableFile = None,
    force: Force = False,
    all_probabilities: AllProbabilities = False,
) -> None:
    """Predict the class of every node from a few labels, with probabilities and an estimate of the accuracy.

    The default width, auto, keeps all columns of the features here, unless that would take more than 1 GB, a
    quarter of the memory limit, or long. Two more things count where they make held-out labels likelier:
    nodes without a label, which show where there are groups of nodes, and each node's own features, before
    smoothing: words that are frequent in one class and rare in others speak for it.

    [dim]nafs classify edges.csv -f features.csv --labels few.csv -o predictions.parquet[/dim]
    """
    run = printing.start()
    check_table_target(output, force=force)
    check_learning(options.memory_limit)
    graph = read(run, edges, reading, scratch_dir=beside(output))
    if graph.labels is None:
        raise InputError(
            "classification needs the labels of some nodes: give a table of ids and labels with ",
            Parameter("labels"),
            ", or name a column of the features with ",
            Parameter("label_column"),
        )
    limit = parse_memory(options.memory_limit)
    width: int | str = options.dim
    if width == "auto":
        width, notes = width_for_classes(graph, limit)
        run.notes += notes
    check_room(graph, width, limit, all_probabilities)
    say_if_structural(run, graph)
    with run.stage("embed"):
        embedding = embed(graph, **options.for_library(running, dim=width))
    run.notes += () if embedding.choice is None else _without_clusters(embedding.choice)
    with run.stage("classify"):
        own_fits, cloud_fits = what_fits(graph, embedding.matrix.shape[1], limit)
        answer = embedding.classify(graph=graph if own_fits else None, unlabelled=cloud_fits)
    if not cloud_fits:
        run.notes += ("nodes without a label do not count: the memory limit is too low",)
    if not own_fits:
        run.notes += ("own features, before smoothing, do not count: the memory limit is too low",)
    run.notes += answer.notes
    table = with_own_names(run, answer.to_arrow(all_probabilities=all_probabilities), graph, reading, output)
    show_table(run, table, output, force=force)


def _without_clusters(choice: Choice) -> tuple[str, ...]:
    """The reasons for a choice, without those about clusters, which nobody asked for here."""
    if choice.clustering is None:
        return choice.reasons
    about_clusters = set(choice.clustering.reasons)
    others = (reason for reason in choice.reasons if reason not in about_clusters)
    hops = (
        f"{counted(choice.n_hops, 'hop')}: chosen without the labels, because different ways to group "
        "the nodes agree best at this number"
    )
    return (*others, hops)
