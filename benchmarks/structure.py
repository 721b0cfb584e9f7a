"""Graphs without features: structural features against DeepWalk, by a classifier on a tenth of the labels.

    python benchmarks/structure.py [GRAPH ...] [--write]

Every graph is embedded once by each, and CPU times are compared. A logistic regression is then fitted on 10 %
of the labels, five times.
``--write`` puts each line into the table of docs/guides/no-features.md. DeepWalk needs the extra ``rivals``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from common import THREADS, MissingDataError, data_home
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit

from nafs import Graph, embed, structural_features
from nafs.datasets import load_dataset
from nafs.rivals import RIVALS, problem_of

GRAPHS = ("cora", "citeseer", "wiki", "acm", "cora_ml", "citeseer_full", "blogcatalog")
PAGE = Path(__file__).resolve().parents[1] / "docs" / "guides" / "no-features.md"
BEGIN, END = "<!-- python benchmarks/structure.py --write -->", "<!-- end -->"
SPLITS = 5
HEADER = (
    "| graph | structural features | + 3 hops | DeepWalk | CPU time of DeepWalk / + 3 hops |",
    "|---|---|---|---|---|",
)


def graph_of(name: str) -> Graph:
    path = data_home() / "plain" / f"{name}.npz"
    if not path.exists():
        return load_dataset(name).graph
    with np.load(path, allow_pickle=False) as content:
        n, columns = len(content["labels"]), content["adj_indices"]
        edges = sp.csr_array((np.ones(len(columns)), columns, content["adj_indptr"]), (n, n))
        return Graph(edges, labels=content["labels"], directed=False)


def accuracy(matrix: np.ndarray, graph: Graph) -> tuple[float, float]:
    """Mean and deviation on the nodes without a label."""
    known = np.flatnonzero(graph.labels.known)
    codes = graph.labels.codes[known]
    rows = matrix[known] / np.maximum(np.linalg.norm(matrix[known], axis=1, keepdims=True), 1e-12)
    splits = StratifiedShuffleSplit(SPLITS, train_size=0.1, random_state=0).split(rows, codes)
    values = [
        LogisticRegression(C=100, max_iter=500).fit(rows[train], codes[train]).score(rows[test], codes[test])
        for train, test in splits
    ]
    return float(np.mean(values)), float(np.std(values))


def compare(name: str) -> str:
    graph = graph_of(name)
    bare = Graph(graph.adjacency)
    cells, seconds = [], []
    for make in (
        lambda: structural_features(bare, n_threads=THREADS),
        lambda: embed(bare, n_hops=3, n_threads=THREADS).matrix,
        lambda: RIVALS["DeepWalk"](problem_of(bare, "links")),
    ):
        start = time.process_time()
        matrix = np.asarray(make())
        seconds.append(time.process_time() - start)
        mean, deviation = accuracy(matrix, graph)
        cells.append(f"{100 * mean:.1f} ± {100 * deviation:.1f}")
    ratio = f"{seconds[2] / seconds[1]:.0f} ×"
    return f"| {name} | {' | '.join(cells)} | {ratio} |"


def main(words: list[str]) -> None:
    for name in [word for word in words if not word.startswith("--")] or GRAPHS:
        try:
            line = compare(name)
        except (MissingDataError, OSError) as reason:
            print(f"{name}: skipped, {reason}", file=sys.stderr)
            continue
        print(line, flush=True)
        if "--write" in words:
            write(name, line)


def write(name: str, line: str) -> None:
    """Replace a graph's line in the table of the page."""
    before, after_begin = PAGE.read_text(encoding="utf-8").split(BEGIN)
    table, after = after_begin.split(END)
    kept = [row for row in table.splitlines() if row.startswith("| ") and row not in HEADER]
    rows = {row.split("|")[1].strip(): row for row in kept} | {name: line}
    text = "\n".join([BEGIN, "", *HEADER, *rows.values(), "", END])
    PAGE.write_text(before + text + after, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
