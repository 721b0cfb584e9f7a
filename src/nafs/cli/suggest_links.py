"""`nafs suggest-links`: pairs of nodes without an edge that probably should have one."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from nafs.cli.embedding_options import EmbeddingOptions, RunOptions
from nafs.cli.flags import command, flag, reject_changes
from nafs.cli.options import (
    LINKING,
    Count,
    Force,
    TableFile,
    TablePrinting,
    beside,
    check_learning,
    check_vectors,
)
from nafs.cli.reading import Edges, Reading, read, say_if_structural
from nafs.cli.similar import check_table_target, show_table
from nafs.embedding import Embedding, embed
from nafs.graph import Graph
from nafs.graph.ids import positions
from nafs.graph.unknown_ids import rows_of
from nafs.links.scores import MEANINGS
from nafs.similarity.suggestions import has_edges

FOR_LINKS = EmbeddingOptions(n_hops="auto", goal="links")


@command
def suggest_links(
    edges: Edges,
    reading: Reading,
    running: RunOptions,
    printing: TablePrinting,
    options: EmbeddingOptions = FOR_LINKS,
    embedding: Annotated[
        str | None,
        flag(
            "--embedding",
            metavar="FILE",
            help="Use the vectors of this file [dim](default: the graph is embedded first)[/dim].",
        ),
    ] = None,
    ids: Annotated[
        list[str] | None,
        flag("--node", metavar="ID", help="Suggest links of this node only; may be repeated."),
    ] = None,
    k: Count = 10,
    score: Annotated[
        str | None,
        flag(
            "--score",
            metavar="SCORE",
            help="How to score pairs: head (vectors and edges, fitted on hidden edges), inner or cosine (of "
            "the vectors) [dim](default: head, or cosine where it finds more hidden edges, or if --hops "
            "gives a number)[/dim].",
        ),
    ] = None,
    output: TableFile = None,
    force: Force = False,
) -> None:
    """Suggest the most likely missing links, of some nodes or in the whole graph.

    Scores rank the suggestions. Those of the head are log-odds up to a constant, not probabilities. They and
    inner products are comparable only between suggestions from one embedding, cosines between embeddings made
    with the same settings.

    [dim]nafs suggest-links edges.csv -f features.csv --node ann -k 5[/dim]
    """
    run = printing.start()
    check_table_target(output, force=force)
    if embedding is not None:
        kept = ("n_threads", "memory_limit")
        reject_changes(options, FOR_LINKS, f"the vectors come from {embedding}", except_for=kept)
    if score in (None, "head"):  # it is fitted
        check_learning(options.memory_limit)
    graph = read(run, edges, reading, scratch_dir=beside(output))
    if ids:
        rows_of(ids, graph.id_array)  # raises if one is unknown, before any work
    if embedding is not None:
        vectors = Embedding.load(embedding, graph, memory_limit=options.memory_limit)
    else:
        say_if_structural(run, graph)
        with run.stage("embed"):
            vectors = embed(graph, **options.for_library(running))
        assert vectors.choice is not None
        run.notes += vectors.choice.reasons
    check_vectors(options.memory_limit, vectors.matrix, LINKING, "looking for missing links")
    with run.stage("search", total=1) as advance:
        links = vectors.suggest_links(
            graph, k, ids or None, score=score, n_threads=options.n_threads, progress=advance
        )
    run.notes.append(MEANINGS[vectors.link_score(score)])
    lonely = graph.n_nodes - np.count_nonzero(has_edges(graph.adjacency))
    if lonely and not ids:
        nodes = "1 node without edges is" if lonely == 1 else f"{lonely:,} nodes without edges are"
        run.notes.append(f"{nodes} not suggested; name {'it' if lonely == 1 else 'them'} with --node")
    run.notes += _without_features(graph, links)
    wanted = k * (len(ids) if ids else 1)
    if links.num_rows < wanted:
        run.notes.append(f"found only {links.num_rows} missing links; {wanted} were requested")
    show_table(run, links, output, force=force)


def _without_features(graph: Graph, links: Any) -> list[str]:
    """A note on suggestions that rest on neighbors alone."""
    if graph.features is None:
        return []
    ends = [positions(graph.id_array, links.column(end).combine_chunks()) for end in ("source", "target")]
    empty = graph.features.norms == 0
    count = int((empty[ends[0]] & empty[ends[1]]).sum())
    if not count:
        return []
    return [
        f"{count:,} of the {links.num_rows:,} pairs are nodes without features, whose vectors come from "
        "their neighbors alone"
    ]
