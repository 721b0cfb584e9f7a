"""Draw the README's picture, a real graph before and after smoothing: docs/figures/before-after.png.

python tools/readme_picture.py    (needs Cora in the folder that NAFS_DATA_HOME names)
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import nafs
from nafs.datasets import load_dataset
from nafs.pictures.layout import tsne
from nafs.selection import prepare

matplotlib.use("agg")
TARGET = Path(__file__).resolve().parent.parent / "docs" / "figures" / "before-after.png"
COLORS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#555555"]


def main() -> None:
    """Draw both maps."""
    from matplotlib.figure import Figure

    graph = load_dataset("cora").graph
    words = prepare(graph.features, graph.adjacency, "tfidf").toarray()
    smoothed = nafs.embed(graph, n_hops="auto", n_clusters=7).matrix
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    axes = figure.subplots(1, 2)
    for axis, matrix, title in ((axes[0], words, "words alone"), (axes[1], smoothed, "after nafs")):
        place = np.asarray(tsne(matrix))
        colors = [COLORS[code] for code in graph.labels.codes]
        axis.scatter(place[:, 0], place[:, 1], c=colors, s=4, linewidths=0)
        axis.set_title(title)
        axis.set_xticks([])
        axis.set_yticks([])
        axis.spines[:].set_visible(False)
    figure.savefig(TARGET, dpi=110)


if __name__ == "__main__":
    main()
