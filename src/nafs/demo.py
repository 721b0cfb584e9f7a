"""What the demo shows: digits whose images cluster better once smoothed over their nearest neighbours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nafs.embedding import Embedding
from nafs.graph import Graph, Labels


def cluster_scores(matrix: Any, labels: Labels | None, seeds: int) -> tuple[str, str]:
    """NMI and ARI of K-means, mean and deviation over seeds."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    assert labels is not None
    count = len(labels.classes)
    found = [KMeans(count, n_init=10, random_state=seed).fit_predict(matrix) for seed in range(seeds)]
    scores = [
        [score(labels.codes, clusters) for clusters in found]
        for score in (normalized_mutual_info_score, adjusted_rand_score)
    ]
    nmi, ari = (f"{np.mean(values):.3f} ± {np.std(values):.3f}" for values in scores)
    return nmi, ari


def draw(path: Path, graph: Graph, embedding: Embedding) -> bool:
    """t-SNE maps of pixels and embedding, side by side; ``False`` where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    from sklearn.manifold import TSNE

    assert graph.features is not None
    assert graph.labels is not None
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    axes = figure.subplots(1, 2)
    shown = ((graph.features.dense, "raw pixels"), (embedding.matrix, "embedding: smoothed over 20 hops"))
    for axis, (matrix, title) in zip(axes, shown, strict=True):
        place = TSNE(random_state=0, init="pca", perplexity=30, max_iter=500).fit_transform(matrix)
        points = axis.scatter(
            place[:, 0], place[:, 1], c=graph.labels.codes, cmap="tab10", s=7, vmin=-0.5, vmax=9.5
        )
        axis.set_title(title)
        axis.set_xticks([])
        axis.set_yticks([])
        axis.set_xlabel("t-SNE 1")
        axis.set_ylabel("t-SNE 2")
    bar = figure.colorbar(points, ax=axes, ticks=range(10), label="digit")
    bar.ax.tick_params(length=0)
    figure.savefig(path, dpi=120)
    return True
