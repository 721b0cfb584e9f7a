"""`auto` on graphs that came after most of the rules: text networks, see tools/text_networks.py.

    python tools/unseen_graphs.py

The packages that the networks are made from are named there; networks without them are left out. The tables
in docs/quality.md are written from docs/data/unseen.json; delete that file to measure again.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from kept import DOCS, measure_missing
from text_networks import GRAPHS, graph_of

from nafs import Graph, embed
from nafs.clustering import agreement
from nafs.pipeline import Job, Settings, search_clusters
from nafs.reproduce.marked import fill, markdown
from nafs.tasks import evaluate_clustering, evaluate_links

SEEDS, SPLITS = 5, 3


def measure(graph: Graph) -> dict[str, Any]:
    """Clusters and links of `auto`, beside simple alternatives; and the best that the candidates hold."""
    assert graph.labels is not None
    truth, count = np.asarray(graph.labels.codes), len(graph.labels.classes)
    plain = embed(graph, 20, preprocessing="none").matrix
    search = search_clusters(Job.of(graph, Settings.of(n_hops="auto", n_clusters=count)))
    nodes = np.arange(graph.n_nodes) if search.sample is None else search.sample
    best = max((_three(agreement(truth[nodes], labels)) for labels in search.candidates(count)[0]), key=sum)
    number = search_clusters(Job.of(graph, Settings.of(n_hops="auto"))).cluster("auto")
    links = {
        title: evaluate_links(
            graph, partial(_for_links, settings=settings), splits=SPLITS, score=score
        ).values
        for title, settings, score in (
            ("inner product", {"n_hops": 20}, "inner"),
            ("cosine", {"n_hops": "auto"}, "cosine"),
            ("auto", {"n_hops": "auto"}, "head"),
        )
    }
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "classes": count,
        "number": number.n_clusters,
        "K-means": _means(evaluate_clustering(plain, graph, method="kmeans", seeds=SEEDS).values),
        "auto": _means(evaluate_clustering(search, graph, seeds=SEEDS).values),
        "best": [100 * value for value in best],
        "links": {title: 100 * float(np.mean(values["AUC"])) for title, values in links.items()},
        "hard": {title: 100 * float(np.mean(values["AUC hard"])) for title, values in links.items()},
    }


def _for_links(graph: Graph, settings: dict[str, Any]) -> Any:
    return embed(graph, goal="links", **settings).matrix


def _three(values: dict[str, float]) -> list[float]:
    return [values[name] for name in ("ACC", "NMI", "ARI")]


def _means(values: Any) -> list[float]:
    return [100 * float(np.mean(values[name])) for name in ("ACC", "NMI", "ARI")]


def tables(measured: dict[str, Any]) -> dict[str, list[str]]:
    """Clusters and links."""
    clusters, links = [], []
    for name, values in measured.items():
        shown = [" / ".join(f"{value:.1f}" for value in values[key]) for key in ("K-means", "auto", "best")]
        size = [f"{values['nodes']:,}", f"{values['edges']:,}"]
        clusters.append([name, *size, *shown, str(values["classes"]), str(values["number"])])
        pairs = [f"{values['links'][title]:.1f} / {values['hard'][title]:.1f}" for title in values["links"]]
        links.append([name, *pairs])
    header = ["graph", "nodes", "edges", "20 hops, K-means", "`auto`", "best candidate, by labels"]
    return {
        "unseen-clusters": markdown([*header, "classes", "number chosen"], clusters),
        "unseen-links": markdown(["graph", "20 hops, inner product", "cosine", "`auto`"], links),
    }


def main() -> None:
    """Measure the graphs that are missing, and write the tables."""
    measured = measure_missing("unseen", GRAPHS, lambda name: measure(graph_of(GRAPHS[name]())))
    page = DOCS / "quality.md"
    page.write_text(fill(page.read_text(encoding="utf-8"), tables(measured)), encoding="utf-8")


if __name__ == "__main__":
    main()
