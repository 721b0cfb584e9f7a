"""A damaged saved graph is rejected, and nothing in it is executed."""

import json
import os
import pickle

import numpy as np
import pytest

from nafs import Graph, from_edges
from nafs._support.mapped import cut_file


@pytest.fixture
def folder(tmp_path):
    graph = from_edges(
        (["a", "b"], ["b", "c"], [2.0, 3.0]), {"id": ["c", "b", "a"], "x": [1, 2, 3], "label": [1, 0, 1]}
    )
    graph.save(tmp_path / "g")
    return tmp_path / "g"


def test_arrays_are_mapped_not_read(folder):
    assert isinstance(Graph.load(folder).adjacency.indices.base, np.memmap)
    assert not isinstance(Graph.load(folder, mmap=False).adjacency.indices.base, np.memmap)


def edit(folder, **changes):
    about = json.loads((folder / "graph.json").read_text())
    (folder / "graph.json").write_text(json.dumps(about | changes))


def drop(folder, key):
    about = json.loads((folder / "graph.json").read_text())
    del about[key]
    (folder / "graph.json").write_text(json.dumps(about))


def replace(folder, name, values):
    np.save(folder / f"{name}.npy", values)


DAMAGE = {
    "no classes": (
        lambda f: edit(f, arrays=["indptr", "indices", "labels"]) or drop(f, "classes"),
        "KeyError",
    ),
    "no names": (lambda f: edit(f, arrays=[1]), "AttributeError"),
    "bad weights": (
        lambda f: replace(f, "weights", np.full(4, np.nan, np.float32)),
        "values that are not positive and finite",
    ),
    "no marker": (lambda f: (f / "graph.json").unlink(), "not a saved graph"),
    "no json": (lambda f: (f / "graph.json").write_text("{"), "graph.json does not describe a graph"),
    "other json": (lambda f: (f / "graph.json").write_text("[]"), "graph.json does not describe a graph"),
    "deep json": (lambda f: (f / "graph.json").write_text("[" * 100_000), "does not describe a graph"),
    "long number": (
        lambda f: (f / "graph.json").write_text('{"nodes": ' + "9" * 5000 + "}"),
        "does not describe a graph",
    ),
    "notes": (lambda f: edit(f, notes=["read", 3]), "does not describe a graph"),
    "newer": (lambda f: edit(f, version=99), "saved by a newer nafs"),
    "missing array": (lambda f: (f / "indices.npy").unlink(), "indices.npy is missing"),
    "array outside": (lambda f: edit(f, arrays=["../x"]), "lists an array"),
    "cut short": (
        lambda f: (f / "indices.npy").write_bytes((f / "indices.npy").read_bytes()[:100]),
        "indices.npy",
    ),
    "garbage": (lambda f: (f / "weights.npy").write_bytes(b"garbage"), "weights.npy cannot be read"),
    "wrong kind": (lambda f: replace(f, "indices", np.zeros(4)), "indices.npy holds float64"),
    "out of range": (lambda f: replace(f, "indices", np.array([0, 1, 2, 9], np.int32)), "outside 0..2"),
    "offsets": (lambda f: replace(f, "indptr", np.array([0, 3, 1, 4])), "does not ascend"),
    "labels": (lambda f: replace(f, "labels", np.array([0, 1, 5], np.int32)), "names a class"),
    "ids": (lambda f: replace(f, "ids_offsets", np.array([0, 1, 2, 9])), "does not fit"),
    "text": (lambda f: replace(f, "ids_text", np.array([255, 254, 253], np.uint8)), "not valid text"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_named(folder, name):
    spoil, message = DAMAGE[name]
    spoil(folder)
    with pytest.raises(ValueError, match=message):
        Graph.load(folder)


def test_pickles_are_not_opened(folder, tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "exploded"), "w"))

    np.save(folder / "indices.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"indices\.npy cannot be read"):
        Graph.load(folder)
    assert not (tmp_path / "exploded").exists()
    assert pickle.dumps(Bomb()), "it would have worked"


def test_only_a_saved_graph_is_overwritten_and_only_with_force(folder, tmp_path):
    graph = Graph.load(folder, mmap=False)
    with pytest.raises(FileExistsError, match="exists already"):
        graph.save(folder)
    graph.save(folder, force=True)
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match=r"holds other files \(thesis\.tex\); it is left alone"):
        graph.save(folder, force=True)
    assert (folder / "thesis.tex").exists()
    other = tmp_path / "photos"
    other.mkdir()
    (other / "cat.jpg").write_text("meow")
    with pytest.raises(FileExistsError, match="left alone"):
        graph.save(other, force=True)
    assert (other / "cat.jpg").read_text() == "meow"
    with pytest.raises(FileNotFoundError, match="create it first"):
        graph.save(tmp_path / "nowhere" / "g")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        Graph.load(tmp_path / "nowhere")


def test_a_failed_save_keeps_the_old_graph(folder, monkeypatch):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    graph = Graph.load(folder, mmap=False)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nafs.graph.storage.save_npy", full)
    with pytest.raises(OSError, match="No space left"):
        graph.save(folder, force=True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in folder.parent.iterdir()] == ["g"]


def test_a_graph_checks_its_parts():
    A = np.array([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="3 ids for 2 nodes"):
        Graph(A, ids=[1, 2, 3])
    with pytest.raises(ValueError, match="1 labels for 2 nodes"):
        Graph(A, labels=["x"])
    with pytest.raises(ValueError, match="id 1 occurs 2 times"):
        Graph(A, ids=[1, 1])
    with pytest.raises(ValueError, match="1 feature_names for 2 features"):
        Graph(A, np.eye(2), feature_names=["a"])
    with pytest.raises(ValueError, match=r"1\.5 in row 1 is not a class"):
        Graph(A, labels=[1.5, 2.0])
    with pytest.raises(ValueError, match="no node has a label"):
        Graph(A, labels=[None, None])
    with pytest.raises(ValueError, match="inf in row 2 is not a class"):
        Graph(A, labels=[1.0, float("inf")])
    with pytest.raises(ValueError, match="feature_names must be unique"):
        Graph(A, np.eye(2), feature_names=["a", "a"])
    with pytest.raises(ValueError, match="directed=True requested"):
        Graph(Graph(A).adjacency, directed=True)
    assert Graph(A, labels=[float("nan"), 2.0]).labels.classes == (2,)
    assert Graph(A, labels=[True, False]).labels.classes == (0, 1)


def test_the_description_counts():
    A = np.zeros((6, 6), int)
    A[[0, 1, 2, 3], [1, 2, 0, 4]] = 1
    graph = Graph(A, np.eye(6)[:, :3], labels=["a", "a", "b", "b", None, "b"], directed=False)
    facts = graph.describe()
    assert (facts.nodes, facts.edges, facts.isolated, facts.components) == (6, 4, 1, 3)
    assert facts.largest_component == 3
    assert facts.degree_quantiles == (0, 1, 1, 2, 2)
    assert facts.feature_density == pytest.approx(3 / 18)
    assert facts.empty_rows == 3
    assert (facts.classes, facts.labelled) == (2, 5)
    assert facts.homophily == pytest.approx(1 / 3), "0-1 of 0-1, 1-2, 2-0; 3-4 has an unlabelled end"
    assert facts.homophily_by_chance == pytest.approx((4 / 6) ** 2 + (2 / 6) ** 2)
    assert facts.labelled_edges == 3
    assert "of 3 edges between labelled nodes" in str(facts)
    assert "too few edges" in str(facts)
    assert facts.as_dict()["homophily"] == facts.homophily
    one_way = Graph(A, directed=True)
    assert one_way.describe().isolated == 1
    assert one_way.n_edges == 4
    loop = Graph(np.array([[1, 1], [1, 0]]), self_loops=True)
    assert loop.n_edges == 2


def test_a_file_that_is_cut_short_while_it_is_mapped_is_named(folder):
    arrays = [Graph.load(folder).adjacency.indices]
    assert cut_file(arrays) is None
    os.truncate(folder / "indices.npy", 130)
    assert cut_file(arrays) == folder / "indices.npy"
