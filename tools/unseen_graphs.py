"""`auto` on graphs that came after most of the rules: text networks made from packages of a Debian system.

    apt-get update && apt-get install wordnet-base dict-foldoc lz4
    python tools/unseen_graphs.py

- FOLDOC, a dictionary of computing. Edges are cross-references, classes are subjects.
- Debian's packages for programming languages, and its applications. Edges are dependencies, classes sections.
- WordNet's verbs, and its nouns for things. Edges are relations between meanings, classes are the files that
  lexicographers sorted them into.

Features are the words of each entry. Classes of fewer than 100 nodes and nodes without edges are left out.
The tables in docs/quality.md are written from docs/data/unseen.json; delete that file to measure again.
"""

from __future__ import annotations

import gzip
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from kept import DOCS, measure_missing
from sklearn.feature_extraction.text import CountVectorizer

from nafs import Graph, embed
from nafs.clustering import agreement
from nafs.pipeline import Job, Settings, search_clusters
from nafs.reproduce.marked import fill, markdown
from nafs.tasks import evaluate_clustering, evaluate_links

SEEDS, SPLITS = 5, 3
SMALLEST = 100  # nodes of a class
COMMON = 3000  # packages that depend on another one, from which on that says nothing
LANGUAGES = ["golang", "gnu-r", "haskell", "java", "javascript", "lisp"]
LANGUAGES += ["ocaml", "perl", "php", "python", "ruby", "rust"]
APPLICATIONS = ["editors", "education", "electronics", "games", "graphics", "mail", "math"]
APPLICATIONS += ["net", "science", "sound", "text", "video", "web"]
THINGS = ["05", "06", "11", "12", "14", "19", "20", "21", "22", "23", "25", "28"]  # animals, artifacts, ...

Entry = tuple[str, str, str, list[str]]  # name, text, class, names of other entries


def foldoc() -> Iterator[Entry]:
    """Entries of the dictionary."""
    with gzip.open("/usr/share/dictd/foldoc.dict.dz", "rt", encoding="utf-8", errors="replace") as file:
        blocks = re.split(r"\n(?=\S)", file.read())
    for block in blocks:
        name, _, body = block.partition("\n")
        text = " ".join(body.split())
        subject = re.search(r"<([a-z ]+)[,>]", text)
        links = [link.strip().lower() for link in re.findall(r"\{([^}]*)\}", text)]
        words = re.sub(r"<[a-z ,]+>|[{}]", " ", text)
        yield name.strip().lower(), words, subject.group(1).strip() if subject else "", links


def packages(sections: list[str]) -> Iterator[Entry]:
    """Debian's packages of some sections."""
    lists = [str(path) for path in Path("/var/lib/apt/lists").glob("*_main_binary-*_Packages.lz4")]
    if not lists:
        raise SystemExit("no list of packages in /var/lib/apt/lists: run apt-get update")
    largest = max(lists, key=lambda path: Path(path).stat().st_size)
    listing = subprocess.run(["lz4cat", largest], capture_output=True, check=True).stdout.decode()
    fields = [
        dict(re.findall(r"^(Package|Section|Depends|Description): (.*)$", block, re.MULTILINE))
        for block in listing.split("\n\n")
    ]
    needed = [re.findall(r"(?:^|[,|] ?)([a-z0-9][a-z0-9+.-]+)", field.get("Depends", "")) for field in fields]
    counts = Counter(name for names in needed for name in set(names))
    for field, names in zip(fields, needed, strict=True):
        if field.get("Section") in sections:
            links = [name for name in names if counts[name] < COMMON]
            yield field["Package"], field.get("Description", ""), field["Section"], links


def wordnet(part: str, files: list[str] | None = None) -> Iterator[Entry]:
    """Meanings of one part of speech; each is described by its gloss."""
    for line in Path(f"/usr/share/wordnet/data.{part}").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):  # the licence
            continue
        head, gloss = line.split("|", 1)
        words = head.split()
        at = 4 + 2 * int(words[3], 16)  # the number of pointers, four words each
        pointers = [words[at + 1 + 4 * i : at + 5 + 4 * i] for i in range(int(words[at]))]
        if files is None or words[1] in files:
            yield words[0], gloss, words[1], [to for _, to, kind, _ in pointers if kind == part[0]]


GRAPHS: dict[str, Callable[[], Iterator[Entry]]] = {
    "FOLDOC": foldoc,
    "Debian, applications": partial(packages, APPLICATIONS),
    "Debian, languages": partial(packages, LANGUAGES),
    "WordNet, verbs": partial(wordnet, "verb"),
    "WordNet, things": partial(wordnet, "noun", THINGS),
}


def graph_of(entries: Iterator[Entry]) -> Graph:
    """The undirected graph of entries in classes that are large enough, with their words as features."""
    rows = list(entries)
    sizes = Counter(row[2] for row in rows)
    rows = [row for row in rows if row[2] and sizes[row[2]] >= SMALLEST]
    places = {row[0]: place for place, row in enumerate(rows)}
    ends = [
        (place, places[name])
        for place, row in enumerate(rows)
        for name in row[3]
        if places.get(name, place) != place
    ]
    count = len(rows)
    matrix = sp.csr_array((np.ones(len(ends), bool), np.array(ends).T), shape=(count, count))
    matrix = (matrix + matrix.T).astype(bool)
    linked = np.flatnonzero(matrix.sum(axis=1))
    words = CountVectorizer(min_df=5, max_df=0.3, stop_words="english", binary=True, max_features=5000)
    features = words.fit_transform([rows[place][1] for place in linked])
    labels = [rows[place][2] for place in linked]
    return Graph(matrix[linked][:, linked], sp.csr_array(features, dtype=np.float32), labels=labels)


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
