"""Clusters of `auto` where the same features come in another form.

    python tools/feature_forms.py

Words are often passed as shares of a text, or as principal components. Every graph is clustered with its
features as they are, with rows divided by their sum, and with 100 principal components of the prepared
features. The latter are prepared by `auto`, not scaled at all, and scaled to the same deviation. Scores are
means of ACC, NMI and ARI in percent over three samples: 70 % of the nodes and at most 5,000. The table is
written into docs/quality.md from docs/data/feature_forms.json; delete that file to measure again.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from consensus_variants import SHARE
from kept import DOCS, measure_missing
from sklearn.decomposition import PCA
from text_networks import UNSEEN, graph_of

from nafs import Graph
from nafs.clustering import agreement
from nafs.clustering.sample import SAMPLE
from nafs.pipeline import Job, Settings, search_clusters
from nafs.reproduce.marked import fill, markdown
from nafs.reproduce.quality import HALVES, data_of, present
from nafs.selection.preprocessing import judge, prepare
from nafs.selection.reduction import reduce

SAMPLES, COLUMNS, WIDE = 3, 100, 256


def forms(graph: Graph) -> Iterator[tuple[str, Graph, str]]:
    """The graph with its features in several forms, and the preprocessing of each."""
    assert graph.features is not None
    assert graph.labels is not None
    labels = [str(graph.labels.classes[code]) if code >= 0 else None for code in graph.labels.codes]
    rows = sp.csr_array(graph.features.matrix)
    sums = rows.sum(axis=1)
    shares = sp.csr_array(sp.diags_array(1 / np.where(sums > 0, sums, 1)) @ rows)
    prepared, _ = reduce(prepare(graph.features, graph.adjacency, judge(graph.features)[0]), WIDE)
    components = PCA(COLUMNS, random_state=0).fit_transform(prepared.toarray())
    yield "as they are", graph, "auto"
    yield "over the sum of the row", Graph(graph.adjacency, shares, labels=labels), "auto"
    reduced = Graph(graph.adjacency, components, labels=labels)
    yield "principal components", reduced, "auto"
    yield "components, not scaled", reduced, "none"
    yield "components of equal deviation", reduced, "standardize"


def measure(name: str) -> dict[str, float]:
    """The score of each form."""
    plain = graph_of(UNSEEN[name]()) if name in UNSEEN else data_of(name).graph
    scores: dict[str, float] = {}
    for title, graph, kind in forms(plain):
        assert graph.labels is not None
        count, each = len(graph.labels.classes), []
        for seed in range(SAMPLES):
            settings = Settings.of(n_hops="auto", n_clusters=count, seed=seed, preprocessing=kind)
            search = search_clusters(Job.of(graph, settings), sample=min(SAMPLE, int(SHARE * graph.n_nodes)))
            truth, labels = (
                codes[search.sample] for codes in (graph.labels.codes, search.consensus(count).labels)
            )
            values = agreement(truth[truth >= 0], labels[truth >= 0])
            each += [100 * values[metric] for metric in ("ACC", "NMI", "ARI")]
        scores[title] = round(float(np.mean(each)), 3)
    return scores


def main() -> None:
    """Measure the graphs that are missing, and write the table."""
    names = [*present([name for half in HALVES.values() for name in half if name != "digits"]), *UNSEEN]
    measured = measure_missing("feature_forms", names, measure)
    titles = list(next(iter(measured.values())))
    rows = [[name, *(f"{scores[title]:.1f}" for title in titles)] for name, scores in measured.items()]
    means = [float(np.mean([scores[title] for scores in measured.values()])) for title in titles]
    rows.append(["mean", *(f"{mean:.1f}" for mean in means)])
    page = DOCS / "quality.md"
    table = {"forms": markdown(["graph", *titles], rows)}
    page.write_text(fill(page.read_text(encoding="utf-8"), table), encoding="utf-8")


if __name__ == "__main__":
    main()
