"""Published files are read, and malicious ones are not run."""

import pickle
from pathlib import Path

import pytest

from nafs.datasets import load_planetoid
from nafs.datasets.safe_pickle import load_pickle
from nafs.graph import read_adjacency


@pytest.mark.parametrize(
    ("name", "nodes", "features", "edges", "classes"),
    [
        ("cora", 2708, 1433, 5278, 7),
        ("citeseer", 3327, 3703, 4552, 6),
        ("pubmed", 19717, 500, 44324, 3),
    ],
)
def test_planetoid_counts(name, nodes, features, edges, classes, planetoid_home):
    X, A, labels = load_planetoid(name, planetoid_home)
    graph = read_adjacency(A)
    assert X.shape == (nodes, features)
    assert graph.n_stored == 2 * edges
    assert graph.weights is None
    assert len(set(labels[labels >= 0])) == classes
    assert (labels < 0).sum() == (15 if name == "citeseer" else 0)


class Malicious:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return (Path.touch, (self.target,))


def test_a_pickle_that_would_run_something_is_refused(tmp_path):
    target, file = tmp_path / "owned", tmp_path / "evil"
    file.write_bytes(pickle.dumps(Malicious(target)))
    with pytest.raises(ValueError, match=r"evil: refused to load"):
        load_pickle(file)
    assert not target.exists()


def test_a_damaged_pickle_names_the_file(tmp_path):
    file = tmp_path / "cut"
    file.write_bytes(pickle.dumps([1, 2, 3])[:-3])
    with pytest.raises(ValueError, match="cut"):
        load_pickle(file)
