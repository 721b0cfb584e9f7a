"""Embeddings inside scikit-learn's model selection."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from nafs import NAFS, InputError, NodeEmbedder, embed, from_edges
from nafs.datasets import contextual_sbm


@pytest.fixture(scope="module")
def graph():
    return contextual_sbm(300, n_classes=3, homophily=0.9, n_features=8, signal=0.8, seed=0)


def test_every_fold_sees_the_whole_graph(graph):
    model = make_pipeline(NodeEmbedder(graph, n_hops=6), LogisticRegression(max_iter=1000))
    y = graph.labels.codes
    scores = cross_val_score(model, np.arange(300), y, cv=4)
    raw = cross_val_score(LogisticRegression(max_iter=1000), graph.features.toarray(), y, cv=4)
    assert scores.mean() > raw.mean() + 0.1
    rows = NodeEmbedder(graph, n_hops=6).fit_transform(np.array([5, 0, 5]))
    expected = NAFS(6).fit_transform(graph)
    np.testing.assert_array_equal(rows, expected[[5, 0, 5]])


def test_grid_search_over_hops(graph):
    search = GridSearchCV(
        make_pipeline(NodeEmbedder(graph), LogisticRegression(max_iter=1000)),
        {"nodeembedder__n_hops": [0, 5]},
        cv=3,
    ).fit(np.arange(200), graph.labels.codes[:200])
    assert search.best_params_ == {"nodeembedder__n_hops": 5}
    assert search.score(np.arange(200, 300), graph.labels.codes[200:]) > 0.7


def test_clones_share_the_graph(graph):
    assert clone(NodeEmbedder(graph)).graph is graph


def test_nodes_by_id_and_what_is_refused():
    friends = from_edges((["ann", "bob", "cy"], ["bob", "cy", "dee"]))
    model = NodeEmbedder(friends, n_hops=2, nodes="id").fit(["ann"])
    np.testing.assert_array_equal(model.transform(["cy", "ann"]), model.embedding_.matrix[[2, 0]])
    with pytest.raises(InputError, match="unknown id 'eve'"):
        model.transform(["eve"])
    by_place = NodeEmbedder(friends, n_hops=2).fit([0])
    with pytest.raises(InputError, match="positions from 0 to 3; got 4"):
        by_place.transform([4])
    with pytest.raises(InputError, match="for ids use nodes='id'"):
        by_place.transform(["ann"])
    with pytest.raises(InputError, match="one node per row"):
        by_place.transform(np.zeros((2, 2), int))


def test_any_graph_object_will_do():
    import networkx as nx
    import pandas as pd

    edges = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    nodes = pd.DataFrame({"id": ["a", "b", "c"], "size": [1.0, 2.0, 3.0]})
    assert embed((edges, nodes), n_hops=1).matrix.shape == (3, 1)
    assert embed(edges, n_hops=1).ids.tolist() == ["a", "b", "c"]
    assert embed(nx.path_graph(4), n_hops=1).matrix.shape[0] == 4
    igraph = pytest.importorskip("igraph")
    assert embed(igraph.Graph([(0, 1), (1, 2)]), n_hops=1).matrix.shape[0] == 3
    with pytest.raises(TypeError, match=r"int is not a graph; pass a Graph"):
        embed(7)
