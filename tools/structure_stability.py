"""How structural features change with one more edge.

    python tools/structure_stability.py cora citeseer amazon-photo

Writes a row for each data set into docs/guides/no-features.md: the mean cosine of a node's vector before and
after, and the share of nodes above 0.99. Edges join nodes that are drawn at random, which is the hardest
case: such an edge is a shortcut that changes the walks of all nodes within a few steps.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from nafs import Graph, structural_features
from nafs.datasets import load_dataset
from nafs.reproduce.marked import fill

PAGE = Path(__file__).resolve().parent.parent / "docs" / "guides" / "no-features.md"
EDGES = 20


def main() -> None:
    """Measure, and write the table."""
    rows = ["| graph | mean cosine | nodes above 0.99 | in the worst case | smallest cosine |"]
    rows += ["|---|---|---|---|---|"]
    for name in sys.argv[1:] or ["cora", "citeseer", "amazon-photo"]:
        rows.append(row(name))
        print(rows[-1], flush=True)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), {"stability": rows}), encoding="utf-8")


def row(name: str) -> str:
    """One line of the table."""
    graph = load_dataset(name).graph
    matrix, rng = sp.csr_array(graph.adjacency.to_scipy()), np.random.default_rng(0)
    before = structural_features(Graph(matrix))
    cosines = []
    for _ in range(EDGES):
        a, b = rng.choice(graph.n_nodes, 2, replace=False)
        edge = sp.csr_array(([1.0, 1.0], ([a, b], [b, a])), matrix.shape)
        after = structural_features(Graph(sp.csr_array(matrix.maximum(edge))))
        cosines.append(np.einsum("ij,ij->i", before, after))
    stable = [float((each > 0.99).mean()) for each in cosines]
    return (
        f"| {name} | {np.mean(cosines):.4f} | {100 * np.mean(stable):.1f} % | {100 * min(stable):.1f} % | "
        f"{np.min(cosines):.2f} |"
    )


if __name__ == "__main__":
    main()
