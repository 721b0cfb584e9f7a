"""Small models to update, compared with full runs."""

import numpy as np
import scipy.sparse as sp
from random_graphs import random_graph

from nafs import Graph, embed
from nafs.graph import read_adjacency
from nafs.model import Model


def names(n, start=0):
    return [f"n{i}" for i in range(start, start + n)]


def model_of(seed, method, n=60, **options):
    directed = options.pop("directed", False)
    A, X = random_graph(seed, n, weighted=options.pop("weighted", False))
    graph = Graph(read_adjacency(sp.triu(A) if directed else A, directed=directed), X, ids=names(n))
    return Model.build(graph, method, n_threads=1, **options)


def in_full(model):
    method = model.method
    options = {"r": method.r, "ensemble": method.ensemble, "weighting": method.weighting}
    embedding = embed(model.graph, method.n_hops, distance=method.distance, n_threads=1, **options)
    assert embedding.ids.tolist() == model.ids.tolist()
    return embedding.matrix


def assert_equal_to_full(model, tolerance=1e-5):
    full = in_full(model)
    error = np.abs(model.matrix - full).max() / max(1e-30, np.abs(full).max())
    assert error < tolerance
