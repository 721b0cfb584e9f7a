"""Small valid files of every supported kind, and the functions that read them."""

import functools
import gzip
import io
import json
import pickle
import tempfile
import uuid
import zipfile
from pathlib import Path
from unittest import mock

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

EDGES = [(f"n{i % 17}", f"n{(i * 5 + 3) % 19}") for i in range(40)]
IDS = sorted({end for edge in EDGES for end in edge})


def text_edges(delimiter=",", header=True, weighted=False):
    lines = [delimiter.join(["source", "target", *(["weight"] if weighted else [])])] if header else []
    for i, (a, b) in enumerate(EDGES):
        lines.append(delimiter.join([a, b, *([str(1 + i / 4)] if weighted else [])]))
    return ("\n".join(lines) + "\n").encode()


def text_nodes():
    rows = [f"{name},{i / 3:.3f},{i % 5},{'red' if i % 2 else 'blue'}" for i, name in enumerate(IDS)]
    return ("id,x,y2,label\n" + "\n".join(rows) + "\n").encode()


def parquet(columns):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def feather(columns):
    file = io.BytesIO()
    table = pa.table({"id": columns["id"], "embedding": columns["v"]})
    with pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table)
    return file.getvalue()


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def archive(members, packed=False):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as out:
        for name, content in members.items():
            out.writestr(name, content)
    return file.getvalue()


def matrix():
    rng = np.random.default_rng(0)
    return sp.random_array((19, 19), density=0.2, rng=rng, format="csr")


def sparse_members(kind="csr"):
    stored = matrix().asformat(kind)
    parts = {"format": np.array(kind.encode()), "shape": np.array(stored.shape), "data": stored.data}
    parts |= (
        {"row": stored.row, "col": stored.col}
        if kind == "coo"
        else {"indices": stored.indices, "indptr": stored.indptr}
    )
    return {f"{name}.npy": npy(array) for name, array in parts.items()}


def matrix_market(kind="real"):
    entries = matrix().tocoo()
    lines = [f"%%MatrixMarket matrix coordinate {kind} general", "% made for tests", f"19 19 {entries.nnz}"]
    for i, j, value in zip(entries.row, entries.col, entries.data, strict=True):
        lines.append(f"{i + 1} {j + 1}" + ("" if kind == "pattern" else f" {value:.6f}"))
    return ("\n".join(lines) + "\n").encode()


def dense_matrix_market():
    rows = [f"{value:.6f}" for value in matrix().toarray().ravel(order="F")]
    return ("%%MatrixMarket matrix array real general\n19 19\n" + "\n".join(rows) + "\n").encode()


def mixed_nodes():
    """A table of words, categories, dates and gaps."""
    words = ["graphs and nodes", "text, quoted", "", "numbers", "smooth features"]
    rows = [
        f'{name},"{words[i % 5]}",{"AB"[i % 2]},2024-0{1 + i % 9}-11,{"" if i % 4 == 0 else i}'
        for i, name in enumerate(IDS)
    ]
    return ("id,about,group,day,size\n" + "\n".join(rows) + "\n").encode()


def graphml():
    graph = nx.Graph(EDGES)
    nx.set_node_attributes(graph, {name: float(i) for i, name in enumerate(graph)}, "x")
    file = io.BytesIO()
    nx.write_graphml(graph, file)
    return file.getvalue()


def saved_graph():
    """The files of a saved graph."""
    adjacency = sp.csr_array(((matrix() + matrix().T) != 0).astype(np.int8))
    adjacency.setdiag(0)
    adjacency.eliminate_zeros()
    text = "".join(IDS).encode()
    ends = np.cumsum([0, *(len(name) for name in IDS)])
    arrays = {
        "indptr": adjacency.indptr.astype(np.int64),
        "indices": adjacency.indices.astype(np.int32),
        "features": np.ones((19, 3), np.float32),
        "ids_offsets": ends.astype(np.int64),
        "ids_text": np.frombuffer(text, np.uint8),
    }
    about = {
        "format": "nafs-graph",
        "version": 1,
        "nodes": 19,
        "stored_edges": int(adjacency.nnz),
        "directed": False,
        "notes": ["made for tests"],
        "features": 3,
        "arrays": sorted(arrays),
    }
    return {f"{name}.npy": npy(array) for name, array in arrays.items()} | {
        "graph.json": json.dumps(about).encode()
    }


@functools.cache
def saved_model():
    """The files of a saved model of a directed, weighted graph with a table, and of one update."""
    from nafs import read_graph
    from nafs.model import Model
    from nafs.pipeline import Settings

    with (
        tempfile.TemporaryDirectory() as name,
        mock.patch("nafs.model.storage.uuid.uuid4", return_value=uuid.UUID(int=7)),  # the same bytes always
    ):
        folder = Path(name)
        (folder / "e.csv").write_bytes(text_edges(weighted=True))
        (folder / "f.csv").write_bytes(mixed_nodes())
        graph = read_graph(folder / "e.csv", folder / "f.csv", directed=True)
        settings = Settings.of(n_hops=2, r=(0.0, 0.5), preprocessing="standardize", dim=3, n_threads=1)
        model = Model.build(graph, settings)
        model.save(folder / "m")
        model.update(edges=(["n1", "new"], ["new", "n3"], [1.0, 2.0]), remove_nodes=["n5"], missing="zeros")
        model.save(folder / "m")
        files = sorted(path for path in (folder / "m").rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def graphdata():
    def pickled(value):
        file = io.BytesIO()
        np.lib.format.write_array(file, np.array(value, dtype=object), allow_pickle=True)
        return file.getvalue()

    adjacency, features = sp.csr_matrix(matrix()), sp.csr_matrix(np.eye(19, 4))
    return {
        "adj_matrix.npy": pickled(adjacency),
        "node_attr.npy": pickled(features),
        "node_label.npy": npy(np.arange(19, dtype=np.int32) % 3),
    }


def ogb():
    members = {
        "raw/num-node-list": "3\n",
        "raw/node-feat": "0.5,1\n-1,2\n0,0\n",
        "raw/node-label": "3\n0\n3\n",
        "raw/edge": "0,1\n1,2\n",
        "split/time/train": "0\n",
        "split/time/valid": "1\n",
        "split/time/test": "2\n",
    }
    return {f"arxiv/{name}.csv.gz": gzip.compress(text.encode()) for name, text in members.items()}


def share(name):
    """How often the long run chooses a kind: tables go through a database and take ten times as long."""
    if name == "nodes mixed":
        return 0.02
    files, _, call = kinds()[name]
    tables = any(file.endswith((".csv", ".tsv", ".txt", ".gz", ".parquet")) for file in files)
    return 0.2 if tables and call != "embedding npy" else 1.0


@functools.cache
def kinds():
    """By name: the files of a case, which of them is changed, and the names given to the reader."""
    plain = {"e.csv": text_edges()}
    columns = {
        "id": IDS,
        "x": [float(i) for i in range(len(IDS))],
        "y2": list(range(len(IDS))),
        "v": [[1.0, float(i)] for i in range(len(IDS))],
    }
    numbered = {"e.csv": b"".join(f"{i},{(i * 7 + 1) % 19}\n".encode() for i in range(19))}
    dense = np.arange(57, dtype=np.float32).reshape(19, 3)
    return {
        "edges csv": ({"e.csv": text_edges()}, "e.csv", ("e.csv",)),
        "edges weighted": ({"e.csv": text_edges(weighted=True)}, "e.csv", ("e.csv",)),
        "edges tsv": ({"e.tsv": text_edges("\t", False)}, "e.tsv", ("e.tsv",)),
        "edges txt": ({"e.txt": b"# a comment\n" + text_edges(" ", False, True)}, "e.txt", ("e.txt",)),
        "edges gz": ({"e.csv.gz": text_edges()}, "e.csv.gz", ("e.csv.gz",)),
        "edges parquet": (
            {"e.parquet": parquet({"source": [a for a, _ in EDGES], "target": [b for _, b in EDGES]})},
            "e.parquet",
            ("e.parquet",),
        ),
        "edges mtx": ({"e.mtx": matrix_market()}, "e.mtx", ("e.mtx",)),
        "edges pattern": ({"e.mtx": matrix_market("pattern")}, "e.mtx", ("e.mtx",)),
        "edges npz": ({"e.npz": sparse_members()}, "e.npz", ("e.npz",)),
        "edges coo": ({"e.npz": sparse_members("coo")}, "e.npz", ("e.npz",)),
        "edges csc": ({"e.npz": sparse_members("csc")}, "e.npz", ("e.npz",)),
        "edges bsr": ({"e.npz": sparse_members("bsr")}, "e.npz", ("e.npz",)),
        "edges dense": ({"e.mtx": dense_matrix_market()}, "e.mtx", ("e.mtx",)),
        "edges split": (
            {"e1.csv": text_edges(weighted=True), "e2.csv": text_edges(weighted=True)},
            "e2.csv",
            ("e[12].csv",),
        ),
        "edges npy": ({"e.npy": npy(matrix().toarray())}, "e.npy", ("e.npy",)),
        "edges graphml": ({"e.graphml": graphml()}, "e.graphml", ("e.graphml",)),
        "nodes csv": (plain | {"f.csv": text_nodes()}, "f.csv", ("e.csv", "f.csv")),
        "nodes wide": (plain | {"f.csv": text_nodes()}, "f.csv", "wide"),
        "nodes mixed": (plain | {"f.csv": mixed_nodes()}, "f.csv", ("e.csv", "f.csv")),
        "nodes parquet": (plain | {"f.parquet": parquet(columns)}, "f.parquet", ("e.csv", "f.parquet")),
        "nodes npy": (numbered | {"f.npy": npy(dense)}, "f.npy", ("e.csv", "f.npy")),
        "nodes npz": (numbered | {"f.npz": sparse_members()}, "f.npz", ("e.csv", "f.npz")),
        "labels csv": (plain | {"y.csv": text_nodes()}, "y.csv", ("e.csv", None, "y.csv")),
        "labels npy": (numbered | {"y.npy": npy(np.arange(19) % 4)}, "y.npy", ("e.csv", None, "y.npy")),
        "saved graph": ({f"g/{name}": content for name, content in saved_graph().items()}, "g", ("g",)),
        "embedding": (
            {"z.parquet": parquet({"id": IDS, "embedding": columns["v"]})},
            "z.parquet",
            "embedding",
        ),
        "embedding npy": (
            {"z.npy": npy(dense), "z.ids.csv": b"id\n" + "\n".join(IDS).encode(), "z.json": b'{"n_hops": 3}'},
            "z.npy",
            "embedding",
        ),
        "embedding csv": (
            {"z.csv": b"id,a,b\n" + b"".join(f"{name},{i},0.5\n".encode() for i, name in enumerate(IDS))},
            "z.csv",
            "embedding",
        ),
        "embedding feather": ({"z.feather": feather(columns)}, "z.feather", "embedding"),
        "embedding jsonl": (
            {
                "z.jsonl": b"".join(
                    json.dumps({"id": k, "embedding": [i, 0.5]}).encode() + b"\n" for i, k in enumerate(IDS)
                )
            },
            "z.jsonl",
            "embedding",
        ),
        "embedding about": (
            {"z.npy": npy(dense), "z.ids.csv": b"id\n" + "\n".join(IDS).encode(), "z.json": b'{"n_hops": 3}'},
            "z.json",
            "embedding npy",
        ),
        "model": (saved_model(), "m", "model"),
        "model with right checksums": (saved_model(), "m", "resealed model"),
        "graphdata": ({"d.npz": graphdata()}, "d.npz", "graphdata"),
        "pickle": ({"ind.x": pickle.dumps(sp.csr_matrix(matrix()), 2)}, "ind.x", "pickle"),
        "pickled graph": (
            {"ind.graph": pickle.dumps({i: [(i + 1) % 9] for i in range(9)}, 2)},
            "ind.graph",
            "pickle",
        ),
        "ogb": ({"arxiv.zip": ogb()}, "arxiv.zip", "ogb"),
    }
