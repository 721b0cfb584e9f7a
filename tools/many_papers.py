"""Write tables of a made-up library of any size, to try pages and commands on: citations.csv and papers.csv.

    python tools/many_papers.py 100000 FOLDER

The papers have a title and an abstract (text), a venue and a country (categories), a date, and four numbers.
Titles, abstracts and venues follow the communities of a power-law graph.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

TOPICS, WORDS_PER_TOPIC = 24, 60
COMMON = "a study of the new on with for from by methods results theory using towards under between and"
COUNTRIES = (
    "Brazil Canada Chile China Egypt France Germany India Italy Japan Kenya Korea Mexico Norway Poland"
)
SYLLABLES = (
    "b d f g k l m n p r s t v br cl dr gr pl st tr",
    "a e i o u ai ea ou",
    "n r s t l m nt rd sk th ne",
)


def write_papers(n: int, folder: Path, seed: int = 0) -> tuple[Path, Path]:
    """Write the edges and the table of nodes, and return their paths."""
    import pyarrow as pa
    from pyarrow import csv

    from nafs.datasets import power_law

    graph = power_law(n, average_degree=12, n_communities=TOPICS, n_features=1, seed=seed)
    rng = np.random.default_rng(seed)
    topic = np.asarray(graph.labels.codes)
    words = _words(rng, TOPICS * WORDS_PER_TOPIC)
    ids = np.array([f"paper-{i:06d}" for i in range(n)])
    day = np.datetime64("1990-01-01") + rng.integers(0, 12_000, n)
    degrees = np.diff(graph.adjacency.indptr)
    first = [words[i * WORDS_PER_TOPIC].title() for i in range(TOPICS)]
    venues = np.array([f"{word} {kind}" for word in first for kind in ("Letters", "Review")])
    papers = {
        "id": ids,
        "title": _texts(rng, words, topic, 6, 11),
        "abstract": _texts(rng, words, topic, 40, 70),
        "venue": venues[2 * topic + rng.integers(0, 2, n)],
        "country": rng.choice(COUNTRIES.split(), n),
        "published": day,
        "citations": rng.poisson(degrees * rng.gamma(1, 3, n)),
        "pages": rng.integers(4, 40, n),
        "score": rng.normal(size=n).round(3),
        "funding": pa.array(rng.lognormal(10, 1, n).round(2), mask=rng.random(n) < 0.3),
    }
    matrix = graph.adjacency.to_scipy().tocoo()
    once = matrix.row < matrix.col
    folder.mkdir(parents=True, exist_ok=True)
    edges, nodes = folder / "citations.csv", folder / "papers.csv"
    csv.write_csv(pa.table({"from": ids[matrix.row[once]], "to": ids[matrix.col[once]]}), edges)
    csv.write_csv(pa.table(papers), nodes)
    return edges, nodes


def _words(rng: np.random.Generator, count: int) -> list[str]:
    """Different words that can be spoken."""
    first, second, last = (part.split() for part in SYLLABLES)
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(str(rng.choice(part)) for part in (first, second, first, second, last))] = None
    return list(words)


def _texts(rng: np.random.Generator, words: list[str], topic: np.ndarray, low: int, high: int) -> list[str]:
    """Texts of ``low`` to ``high`` words, about half of them from the topic."""
    chances = 1 / np.arange(1, WORDS_PER_TOPIC + 1)
    drawn = rng.choice(WORDS_PER_TOPIC, (len(topic), high), p=chances / chances.sum())
    vocabulary = np.array([*words, *COMMON.split()])
    chosen = topic[:, None] * WORDS_PER_TOPIC + drawn
    common = rng.random(chosen.shape) < 0.5
    chosen[common] = len(words) + rng.integers(0, len(COMMON.split()), int(common.sum()))
    lengths = rng.integers(low, high + 1, len(topic))
    return [
        " ".join(vocabulary[row[:length]]).capitalize() for row, length in zip(chosen, lengths, strict=True)
    ]


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    print(*write_papers(int(sys.argv[1]), Path(sys.argv[2])))
