"""Write the example tables that ship with the package: a made-up library of papers that cite each other.

python tools/make_example_tables.py
"""

from __future__ import annotations

import csv
from datetime import date, timedelta
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "src" / "nafs" / "datasets" / "example"
PAPERS, NEW = 240, 6
TOPICS = {
    "astronomy": (
        [
            "star",
            "galaxy",
            "orbit",
            "telescope",
            "nebula",
            "comet",
            "spectrum",
            "luminosity",
            "planet",
            "eclipse",
            "redshift",
            "dust",
        ],
        ["Sky Letters", "Annals of Stars"],
    ),
    "botany": (
        [
            "leaf",
            "root",
            "seed",
            "pollen",
            "moss",
            "fern",
            "canopy",
            "petal",
            "chlorophyll",
            "graft",
            "orchard",
            "lichen",
        ],
        ["Green Review", "Field Notes"],
    ),
    "databases": (
        [
            "query",
            "index",
            "join",
            "transaction",
            "cache",
            "schema",
            "lock",
            "replica",
            "shard",
            "log",
            "storage",
            "optimizer",
        ],
        ["Data Engineering Days", "Table Talk"],
    ),
    "music": (
        [
            "rhythm",
            "chord",
            "melody",
            "tempo",
            "harmony",
            "choir",
            "violin",
            "timbre",
            "scale",
            "improvisation",
            "score",
            "drum",
        ],
        ["Sound Studies", "The Ear"],
    ),
}
COMMON = [
    "study",
    "of",
    "the",
    "a",
    "new",
    "view",
    "on",
    "early",
    "evidence",
    "from",
    "methods",
    "for",
    "towards",
    "measuring",
]
FIRST = [
    "Ada",
    "Bo",
    "Cleo",
    "Dan",
    "Eva",
    "Finn",
    "Gia",
    "Hugo",
    "Iris",
    "Jon",
    "Kim",
    "Lea",
    "Max",
    "Nia",
    "Otto",
    "Pia",
]


def main() -> None:
    """Write the papers, their citations and topics, and tomorrow's papers and citations."""
    rng = np.random.default_rng(7)
    names = list(TOPICS)
    topics = rng.choice(len(names), PAPERS + NEW, p=[0.35, 0.25, 0.25, 0.15])
    papers = [_paper(rng, i, names[topic]) for i, topic in enumerate(topics)]
    links = sorted(_citations(rng, topics))
    FOLDER.mkdir(exist_ok=True)
    old = [(a, b) for a, b in links if a < PAPERS and b < PAPERS]
    new = [(a, b) for a, b in links if a >= PAPERS or b >= PAPERS]
    _write("papers.csv", papers[0].keys(), [paper.values() for paper in papers[:PAPERS]])
    _write("new_papers.csv", papers[0].keys(), [paper.values() for paper in papers[PAPERS:]])
    for name, pairs in (("citations.csv", old), ("new_citations.csv", new)):
        _write(name, ("citing", "cited"), [(_id(a), _id(b)) for a, b in pairs])
    known = sorted(rng.choice(PAPERS, 40, replace=False))
    _write("known_topics.csv", ("paper", "topic"), [(_id(i), names[topics[i]]) for i in known])
    _write("withdrawn.csv", ("paper",), [(_id(i),) for i in (32, 203)])
    _write("all_topics.csv", ("paper", "topic"), [(_id(i), names[t]) for i, t in enumerate(topics)])


def _id(number: int) -> str:
    return f"P{number + 1:03d}"


def _paper(rng: np.random.Generator, number: int, topic: str) -> dict[str, str]:
    words, venues = TOPICS[topic]
    others = [word for name, (vocabulary, _) in TOPICS.items() if name != topic for word in vocabulary]
    title = [*rng.choice(words, 3), *rng.choice(COMMON, 3)]
    if rng.random() < 0.4:
        title.append(rng.choice(others))
    rng.shuffle(title)
    day = date(2015, 1, 1) + timedelta(days=int(rng.integers(0, 3600)))
    venue = rng.choice(venues) if rng.random() < 0.8 else rng.choice(["Open Proceedings", "Preprint"])
    return {
        "paper": _id(number),
        "title": " ".join(title).capitalize(),
        "venue": "" if rng.random() < 0.05 else str(venue),
        "published": day.isoformat(),
        "pages": "" if rng.random() < 0.08 else str(int(rng.integers(4, 30))),
        "author": str(rng.choice(FIRST)),
        "open_access": str(bool(rng.random() < 0.5)).lower(),
    }


def _citations(rng: np.random.Generator, topics: np.ndarray) -> set[tuple[int, int]]:
    """Papers cite earlier papers, mostly on the same topic, and popular ones more often."""
    links: set[tuple[int, int]] = set()
    popularity = rng.pareto(2.0, len(topics)) + 1
    for paper in range(5, len(topics)):
        same = topics[:paper] == topics[paper]
        weights = popularity[:paper] * np.where(same, 8.0, 1.0)
        count = min(paper, 2 + int(rng.poisson(1.5)))
        for cited in rng.choice(paper, count, replace=False, p=weights / weights.sum()):
            links.add((paper, int(cited)))
    return links


def _write(name: str, header: object, rows: object) -> None:
    with (FOLDER / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
