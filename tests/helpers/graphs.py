"""Random graphs with ids, weights, features and labels, and a comparison of two graphs."""

import string

import numpy as np
from hypothesis import strategies as st

from nafs import Graph, from_edges

# Text that CSV, XML and JSON must all carry: quotes, delimiters, spaces, other scripts.
NAMES = st.text(
    alphabet=st.sampled_from(string.ascii_letters + string.digits + " ,;\t'\"|#-_.éß水"),
    min_size=1,
    max_size=8,
).filter(lambda name: name == name.strip())


@st.composite
def graphs(draw, *, text_ids=None, features=None, labels=None, weighted=None):
    """A Graph of 2 to 12 nodes."""
    n = draw(st.integers(2, 12))
    use_text = draw(st.booleans()) if text_ids is None else text_ids
    names = NAMES if use_text else st.integers(-(2**40), 2**40)
    ids = draw(st.lists(names, min_size=n, max_size=n, unique=True))
    if use_text:
        ids[0] = f"n{ids[0]}" if f"n{ids[0]}" not in ids else ids[0] + "n" * 9  # an id that is not a number
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda ends: ends[0] != ends[1])
    pairs = draw(st.lists(pair, min_size=1, max_size=3 * n, unique_by=frozenset))
    columns = [[ids[a] for a, _ in pairs], [ids[b] for _, b in pairs]]
    if draw(st.booleans()) if weighted is None else weighted:
        number = st.floats(0.125, 8, width=16).filter(lambda value: value != 1)
        columns.append(draw(st.lists(number, min_size=len(pairs), max_size=len(pairs))))
    nodes = {"id": ids}
    if draw(st.booleans()) if features is None else features:
        number = st.floats(-100, 100, width=32)
        for i in range(draw(st.integers(1, 3))):
            nodes[f"feature {i}"] = draw(st.lists(number, min_size=n, max_size=n))
    if draw(st.booleans()) if labels is None else labels:
        known = draw(st.sampled_from([st.sampled_from(["a", "b c", "ü"]), st.integers(0, 3)]))
        nodes["label"] = draw(st.lists(st.none() | known, min_size=n, max_size=n).filter(any_known))
    return from_edges(tuple(columns), nodes)


def any_known(values):
    return any(value is not None for value in values)


def assert_same(a: Graph, b: Graph, *, ids=True, nodes=True):
    """Compare everything that a format stores, bit by bit."""
    np.testing.assert_array_equal(a.adjacency.indptr, b.adjacency.indptr)
    np.testing.assert_array_equal(a.adjacency.indices, b.adjacency.indices)
    assert (a.adjacency.weights is None) == (b.adjacency.weights is None)
    if a.adjacency.weights is not None:
        np.testing.assert_array_equal(a.adjacency.weights, b.adjacency.weights)
    if ids:
        assert a.ids.tolist() == b.ids.tolist()
        assert a.ids.dtype == b.ids.dtype
    if not nodes:
        return
    assert (a.features is None) == (b.features is None)
    if a.features is not None:
        dense = [
            g.features.sparse.toarray() if g.features.dense is None else g.features.dense for g in (a, b)
        ]
        np.testing.assert_array_equal(*dense)
    assert (a.labels is None) == (b.labels is None)
    if a.labels is not None:
        assert a.labels.to_arrow().to_pylist() == b.labels.to_arrow().to_pylist()


EDGES = {"source": ["ann", "bob", "cy"], "target": ["bob", "cy", "dee"], "weight": [1.0, 2.5, 3.0]}
NODES = {"id": ["dee", "cy", "bob", "ann"], "x0": [1.0, 2.0, 3.0, 4.0], "x1": [0.0, 1.0, 0.0, 1.0]}
LABELS = ["red", "blue", "red", None]


def reference():
    """A graph of four people, for comparison with every reader."""
    return from_edges(EDGES, NODES | {"label": LABELS})
