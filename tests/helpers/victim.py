"""A process that reads damaged files, one case a line: `KIND SEED` in, the outcome as JSON out."""

import csv
import functools
import io
import json
import random
import re
import resource
import shutil
import sys
import tempfile
import time
import warnings
from pathlib import Path

MEMORY = 6 << 30  # bytes of address space
GROWTH = 700 << 20  # bytes of memory that one case may add


def main():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from corpus import kinds

    from nafs.readers.database import one_database

    known = kinds()
    warnings.simplefilter("ignore")
    print("ready", flush=True)
    with one_database():  # or opening it would take nine tenths of the time
        serve(known)


def serve(known):
    for line in sys.stdin:
        kind, _, seed = line.strip().rpartition(" ")
        folder = Path(tempfile.mkdtemp(prefix="victim-"))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        try:
            outcome = case(folder, known[kind], int(seed))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        if grown > GROWTH:
            outcome = {"bad": "memory", "why": f"{grown >> 20} MB"}
        outcome |= {"kind": kind, "seed": int(seed), "seconds": round(time.perf_counter() - started, 3)}
        print(json.dumps(outcome), flush=True)


def case(folder, entry, seed):
    from mutations import mutate, written

    from nafs._support.errors import InputError

    files, victim, call = entry
    rng = random.Random(seed)
    chosen = victim
    if victim in ("g", "m"):  # a saved graph or model: any of its files
        chosen = rng.choice(sorted(files))
    files = exchanged(rng, files, chosen) if seed and victim == "m" and rng.random() < 0.2 else files
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        damaged = mutate(rng, name, content) if name == chosen and seed else content
        path.write_bytes(written(name, damaged))
    try:
        result = read(folder, victim, call)
    except (InputError, FileNotFoundError) as error:
        text = str(error)
        if "\n" in text.strip() or len(text) > 3000 or not text.strip():
            return {"bad": "message", "why": text[:300]}
        return {"refused": text.replace(str(folder), "")[:160]}
    except Exception as error:
        return {"bad": "exception", "why": f"{type(error).__name__}: {error}"[:400]}
    wrong = check(folder, call, result)
    return {"bad": "wrong", "why": wrong} if wrong else {"read": True}


def exchanged(rng, files, chosen):
    """The files of a folder without one of them, with one under another's name, or with one twice."""
    files, other = dict(files), rng.choice(sorted(files))
    kind = rng.randrange(3)
    if kind == 0:
        del files[chosen]
    elif kind == 1:
        files[other] = files.pop(chosen)
    else:
        files[other] = files[chosen]
    return files


def read(folder, victim, call):  # noqa: PLR0911 - one reader each
    if call == "embedding":
        from nafs.readers.vectors import read_embedding

        return read_embedding(folder / victim)
    if call == "resealed model":
        reseal(folder / victim)
    if call in ("model", "resealed model"):
        return used_model(folder / victim)
    if call == "embedding npy":
        from nafs.readers.vectors import read_embedding

        return read_embedding(folder / "z.npy")
    if call == "graphdata":
        from nafs.datasets.graphdata import load_graphdata

        return load_graphdata(folder / victim)
    if call == "wide":
        return wide_graph(folder)
    if call == "ogb":
        from nafs.datasets.ogb import load_ogb

        return load_ogb(folder / victim)
    if call == "pickle":
        from nafs.datasets.pickles import as_matrix, as_neighbors, read_pickle

        value = read_pickle(folder / victim)
        return as_neighbors(value, victim) if victim == "ind.graph" else as_matrix(value, victim)
    from nafs import read_graph

    return read_graph(*(None if name is None else folder / name for name in call))


def reseal(folder):
    """Give a damaged model checksums that fit, as somebody would who wants it to be read."""
    from nafs._support.checksum import seal

    inner = sorted(folder.glob("changes-*"))
    with tempfile.TemporaryDirectory(dir=folder.parent) as aside:
        for path in inner:
            seal(path)
            path.rename(Path(aside) / path.name)
        if folder.exists():
            seal(folder)
        for path in inner:
            (Path(aside) / path.name).rename(path)


def used_model(folder):
    """A model after it was loaded and updated: ids, embedding, and the embedding after the update."""
    from nafs.model import Model

    model = Model.load(folder, n_threads=1)
    before = model.ids.tolist(), model.matrix.copy()
    row = {"about": ["graphs, text"], "group": ["A"], "day": ["2024-05-11"], "size": [3]}
    model.update(edges=(["n1", "n2"], ["other", "n3"]), features=(["other"], row), tolerance=0.0)
    return *before, model.matrix


@functools.cache
def whole_model():
    """The result of the undamaged model."""
    from corpus import saved_model

    with tempfile.TemporaryDirectory() as folder:
        for name, content in saved_model().items():
            (Path(folder) / name).parent.mkdir(exist_ok=True, parents=True)
            (Path(folder) / name).write_bytes(content)
        return used_model(Path(folder) / "m")


def wide_graph(folder):
    """A graph whose node table goes the way of tables with thousands of columns."""
    from nafs import read_graph
    from nafs.readers import tables

    before, tables.WIDE = tables.WIDE, 2
    try:
        return read_graph(folder / "e.csv", folder / "f.csv")
    finally:
        tables.WIDE = before


def check(folder, call, result):  # noqa: PLR0911 - one reason each
    """What is wrong with a result that raised no error."""
    import numpy as np
    import scipy.sparse as sp
    from second_opinion import difference

    if call == "embedding":
        if not (np.isfinite(result[0]).all() and len(result[0]) == len(result[1])):
            return "not finite"
        return difference(folder, call, result)
    if call == "wide":
        call = ("e.csv", "f.csv")
    if call == "model":
        same = (np.array_equal(ours, theirs) for ours, theirs in zip(result, whole_model(), strict=True))
        return "" if all(same) else "another model than was saved"
    if not isinstance(call, tuple):
        return ""
    adjacency = result.adjacency
    indptr, indices = np.asarray(adjacency.indptr), np.asarray(adjacency.indices)
    n = adjacency.n_nodes
    if indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
        return "broken rows"
    if len(indices) and not 0 <= indices.min() <= indices.max() < n:
        return "broken columns"
    if adjacency.weights is not None and len(indices):
        weights = np.asarray(adjacency.weights)
        if not (np.isfinite(weights) & (weights > 0)).all():
            return "weights that are none"
    if len(set(result.ids.tolist())) != n:
        return "ids that come twice"
    if result.features is not None and not np.isfinite(result.features.toarray()).all() and call != ("g",):
        return "features that are not finite"
    if not adjacency.directed and call != ("g",):
        matrix = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n))
        if (matrix != matrix.T).nnz:
            return "one-way edges"
    return _lost(folder / call[0], result) or difference(folder, call, result)


def _lost(path, graph):
    """Rows or ids of a text table that are not in the graph."""
    if path.suffix not in (".csv", ".tsv", ".txt") or not path.exists():  # a pattern
        return ""
    text = path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")
    match = re.search(r"([\d,]+) rows? makes? ", graph.notes[0])
    roles = re.search(r"source = '(.*?)', target = '(.*?)'", graph.notes[0])
    if match is None or roles is None or "\r" in text or '"' in text or "\x0b" in text or "\x0c" in text:
        return ""  # readers differ on line ends
    comments = next(
        (
            int(skipped[1])
            for note in graph.notes
            if note.startswith(f"{path}: ") and (skipped := re.search(r"(\d+) lines? skipped", note))
        ),
        0,
    )
    lines = [line for line in text.split("\n") if line.strip()]
    delimiters = [sign for sign in ("\t", ";", "|", ",", " ") if sign in lines[-1]]
    header = 0 if re.fullmatch(r"column1", roles[1]) and re.fullmatch(r"column2", roles[2]) else 1
    rows = len(lines) - comments - header
    if int(match[1].replace(",", "")) != rows:
        return f"{rows} rows became {match[1]}"
    if len(delimiters) != 1:
        return ""
    table = list(csv.reader(io.StringIO("\n".join(lines[comments + header :])), delimiter=delimiters[0]))
    ends = {field.strip() for row in table for field in row[:2]}
    known = {str(name).strip() for name in graph.ids.tolist()}
    first_two = roles[1] in ("source", "column1") and roles[2] in ("target", "column2")
    if first_two and not ends <= known:
        return f"ids are lost: {sorted(ends - known)[:3]}"
    return ""


if __name__ == "__main__":
    main()
