"""Text columns: the TF-IDF of nafs against skrub's encoder of strings.

    python benchmarks/text_encoders.py

skrub's StringEncoder computes TF-IDF of groups of three and four letters and keeps 30 leading directions.
Both encode the titles of the example papers. A logistic regression sees a tenth of the topics, ten times,
before and after smoothing over the citations. skrub's TextEncoder downloads a language model, which nafs
never does.
"""

from __future__ import annotations

import csv

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit

from nafs import embed, from_edges
from nafs.datasets import example_table
from nafs.tables.codecs import Text


def column(name: str, field: str) -> list[str]:
    with example_table(name).open(newline="") as file:
        return [row[field] for row in csv.DictReader(file)]


def accuracy(matrix: np.ndarray, topics: np.ndarray) -> str:
    splits = StratifiedShuffleSplit(10, train_size=0.1, random_state=0).split(matrix, topics)
    model = LogisticRegression(C=100, max_iter=1000)
    scores = [model.fit(matrix[a], topics[a]).score(matrix[b], topics[b]) for a, b in splits]
    return f"{100 * np.mean(scores):.1f} ± {100 * np.std(scores):.1f}"


def main() -> None:
    import pandas as pd
    from skrub import StringEncoder

    papers, titles = column("papers", "paper"), column("papers", "title")
    known = dict(zip(column("all_topics", "paper"), column("all_topics", "topic"), strict=True))
    topics = np.array([known[paper] for paper in papers])
    edges = (column("citations", "citing"), column("citations", "cited"))
    words = np.array(titles, object)
    blocks = {
        "TF-IDF of words (nafs)": Text.fit(words).encode(words).toarray(),
        "StringEncoder (skrub)": StringEncoder(random_state=0).fit_transform(pd.Series(titles)).to_numpy(),
    }
    print(f"{'':26}{'alone':>14}{'+ 5 hops':>14}")
    for name, block in blocks.items():
        rows = block / np.maximum(np.linalg.norm(block, axis=1, keepdims=True), 1e-12)
        frame = pd.DataFrame(rows).rename(columns=str).assign(paper=papers)
        smoothed = embed(from_edges(edges, frame, id_column="paper"), n_hops=5)
        smooth = smoothed.matrix[smoothed.rows(papers)]
        print(f"{name:26}{accuracy(rows, topics):>14}{accuracy(smooth, topics):>14}")


if __name__ == "__main__":
    main()
