"""What the savings in large graphs cost: clusters and links with them and without.

    python tools/large_graphs.py

In graphs of more than 50,000 nodes, hops for clusters are compared with two of the r's, and hops that hardly
raise the AUC for links are saved. The table in docs/choices.md compares that with the way of smaller graphs,
in the same run. Seconds are those of all processors.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sklearn.metrics import adjusted_rand_score

import nafs.selection.hops_for_clusters as for_clusters
import nafs.selection.hops_for_links as for_links
from nafs import Graph, embed
from nafs.datasets import contextual_sbm, power_law
from nafs.reproduce.marked import fill, markdown
from nafs.selection.choice import LARGE
from nafs.tasks import evaluate_links

PAGE = Path(__file__).resolve().parent.parent / "docs" / "choices.md"
NODES = 60_000
HIDDEN = 0.02  # share of the edges that links are judged by, and of those that the head is fitted to
GRAPHS: dict[str, Callable[[], Graph]] = {
    "power law": lambda: power_law(NODES, average_degree=20, n_features=128, seed=0),
    "block model": lambda: contextual_sbm(NODES, n_classes=10, n_features=128, homophily=0.5, seed=0),
}
HEADER = ["graph", "savings", "hops, clusters", "ARI", "seconds", "hops, links", "AUC", "AUC hard", "seconds"]


def measure(graph: Graph) -> list[str]:
    """Clusters against the planted ones, and links on hidden edges."""
    assert graph.labels is not None
    start = time.process_time()
    choice = embed(graph, n_hops="auto", n_clusters=len(graph.labels.classes)).choice
    seconds = time.process_time() - start
    assert choice is not None
    assert choice.clustering is not None
    index = adjusted_rand_score(graph.labels.codes, choice.clustering.labels)
    hops: list[int] = []

    def vectors(visible: Graph) -> Any:
        embedding = embed(visible, n_hops="auto", goal="links")
        assert embedding.choice is not None
        hops.append(embedding.choice.n_hops)
        return embedding.matrix

    row = [str(choice.n_hops), f"{100 * index:.1f}", f"{seconds:.0f}"]
    start = time.process_time()
    values = evaluate_links(graph, vectors, splits=1, validation=HIDDEN, test=HIDDEN).values
    seconds = time.process_time() - start
    scores = [f"{100 * values[name][0]:.1f}" for name in ("AUC", "AUC hard")]
    return [*row, str(hops[0]), *scores, f"{seconds:.0f}"]


def main() -> None:
    """Measure all graphs in both ways, and write the table."""
    rows = []
    for name, make in GRAPHS.items():
        graph = make()
        for savings, large in (("no", graph.n_nodes), ("yes", LARGE)):
            for_clusters.LARGE = for_links.LARGE = large
            rows.append([name, savings, *measure(graph)])
            print(" | ".join(rows[-1]), flush=True)
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(fill(page, {"large": markdown(HEADER, rows)}), encoding="utf-8")


if __name__ == "__main__":
    main()
