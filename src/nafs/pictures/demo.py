"""The figure of the demo: digits before and after smoothing over their nearest neighbours."""

from __future__ import annotations

from pathlib import Path

from nafs.embedding import Embedding
from nafs.graph import Graph


def draw(path: Path, graph: Graph, embedding: Embedding) -> bool:
    """Draw t-SNE maps of pixels and embedding; return ``False`` if matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    from sklearn.manifold import TSNE

    assert graph.features is not None
    assert graph.labels is not None
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    axes = figure.subplots(1, 2)
    panels = (
        (graph.features.toarray(), "raw pixels"),
        (embedding.matrix, "embedding: smoothed over 20 hops"),
    )
    for axis, (matrix, title) in zip(axes, panels, strict=True):
        positions = TSNE(random_state=0, init="pca", perplexity=30, max_iter=500).fit_transform(matrix)
        points = axis.scatter(
            positions[:, 0], positions[:, 1], c=graph.labels.codes, cmap="tab10", s=7, vmin=-0.5, vmax=9.5
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
