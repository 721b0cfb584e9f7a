"""Arrays whose values would be lost: masks, fractions, overflow, extremes of float32."""

import numpy as np
import numpy.ma
import pandas as pd
import pytest
import scipy.sparse as sp

from nafs import NAFS, Graph, from_edges, from_pyg
from nafs._support.errors import InputError
from nafs.similarity import nearest


class TestArrays:
    def test_duplicates_do_not_overflow(self):
        A = sp.coo_array((np.array([100, 100], np.int8), ([0, 0], [1, 1])), shape=(2, 2))
        assert Graph(A, directed=False).adjacency.weights.tolist() == [200, 200]
        assert Graph(np.ones((2, 2)), A).features.dense.tolist() == [[0, 200], [0, 0]]

    def test_masked_arrays_are_refused(self):
        masked = np.ma.masked_array([[0.0, 1.0], [1.0, 0.0]], mask=[[False, True], [False, False]])
        with pytest.raises(InputError, match="masked"):
            Graph(masked)
        with pytest.raises(InputError, match="masked"):
            Graph(np.array([[0, 1], [1, 0]]), masked)
        with pytest.raises(InputError, match="masked"):
            from_edges((np.ma.masked_array([1, 2], mask=[True, False]), [2, 3]))
        nothing = np.ma.masked_array([[0.0, 1.0], [1.0, 0.0]])
        assert Graph(nothing, nothing).n_edges == 1

    def test_fractions_in_an_edge_index_are_refused(self):
        class Data:
            edge_index = np.array([[0, 1.7], [1, 2]])
            x = None
            num_nodes = 3

        with pytest.raises(InputError, match="whole numbers"):
            from_pyg(Data)
        with pytest.raises(InputError, match="not a whole number"):
            from_edges(np.array([[0, 1.7], [1.0, 2.0]]))

    def test_dictionaries_of_keys(self):
        A = sp.dok_array((3, 3))
        A[0, 1] = A[1, 2] = 1
        assert Graph(A, directed=False).n_edges == 2
        assert Graph(A, sp.dok_array(np.eye(3)), directed=False).features.shape == (3, 3)

    def test_weights_too_small_for_float32_are_refused(self, tmp_path):
        A = sp.coo_array(([1e-50, 2.0], ([0, 1], [1, 0])), shape=(3, 3))
        with pytest.raises(InputError, match="1e-50"):
            Graph(A, directed=True)
        with pytest.raises(InputError, match="1e-50"):
            from_edges((["a"], ["b"], [1e-50]))
        smallest = float(np.finfo(np.float32).tiny)
        graph = from_edges((["a", "b"], ["b", "c"], [smallest, 1.5]))
        graph.save(tmp_path / "g")
        assert Graph.load(tmp_path / "g").adjacency.weights.min() == np.float32(smallest)


def test_frames_with_a_huge_index(tmp_path):
    nodes = pd.DataFrame({"x": [1.0, 2.0]}, index=pd.Index([2**63 - 1, 1], name="user"))
    graph = from_edges(([2**63 - 1], [1]), nodes)
    assert graph.ids.tolist() == [2**63 - 1, 1]


class TestMagnitudes:
    def graph(self, weight, value):
        edges = (["a", "b", "c"], ["b", "c", "a"], [weight, weight, 2 * weight])
        return from_edges(
            edges, {"id": ["a", "b", "c"], "x": [value, -value, value / 3], "y": [1.0, 2.0, 3.0]}
        )

    @pytest.mark.parametrize("r", [0.0, 0.5, 1.0])
    def test_large_weights_and_features(self, r):
        assert np.isfinite(NAFS(n_hops=3, r=(r,)).fit_transform(self.graph(1e6, 1e28))).all()
        if r == 1.0:
            with pytest.raises(InputError, match="together too large"):
                NAFS(n_hops=3, r=(r,)).fit_transform(self.graph(1e12, 1e28))
        else:
            assert np.isfinite(NAFS(n_hops=3, r=(r,)).fit_transform(self.graph(1e12, 1e28))).all()

    @pytest.mark.parametrize("value", [3e38, np.inf, np.nan])
    def test_saved_features_that_are_damaged(self, tmp_path, value):
        self.graph(2.0, 1.0).save(tmp_path / "g")
        values = np.load(tmp_path / "g" / "features.npy")
        values[1, 0] = value
        np.save(tmp_path / "g" / "features.npy", values)
        with pytest.raises(InputError, match="features"):
            NAFS(n_hops=3).fit_transform(Graph.load(tmp_path / "g"))

    def test_inner_products_that_overflow(self):
        matrix = np.array([[1e20, 0], [1e20, 1], [0, 1e20]], np.float32)
        with pytest.raises(InputError, match="too large for inner products"):
            nearest(matrix, np.array([0]), 1, score="inner")
        assert nearest(matrix, np.array([0]), 1)[0].tolist() == [[1]]
