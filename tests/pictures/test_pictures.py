"""Figures are labelled, and bad input is rejected."""

import numpy as np
import pytest
from random_graphs import random_graph

from nafs import Graph, embed
from nafs.pictures import plot_curves, plot_hop_grid, plot_map, plot_weights_by_degree
from nafs.smoothing import smoothing_weights

pytest.importorskip("matplotlib")
pytest.importorskip("openTSNE")


@pytest.fixture(scope="module")
def graph():
    A, X = random_graph(3, n=80, density=0.1)
    return Graph(A, X, labels=["a", None, "b", "a"] * 20)


def legend(axis):
    return [text.get_text() for text in axis.get_legend().get_texts()]


def test_a_map_has_every_node_once_and_its_classes_in_the_legend(graph):
    (axis,) = plot_map(embed(graph, n_hops=2), title="Two hops").axes
    assert axis.get_title() == "Two hops"
    assert sum(len(points.get_offsets()) for points in axis.collections) == 80
    assert legend(axis) == ["a", "b", "unknown"]
    numbers = plot_map(embed(graph, n_hops=2), np.linspace(0, 1, 80))
    assert len(numbers.axes) == 2, "numbers have a bar"
    with pytest.raises(ValueError, match="3 colours for 80 nodes"):
        plot_map(embed(graph, n_hops=2), [1, 2, 3])


def test_a_large_map_shows_a_sample_and_says_so(graph, monkeypatch):
    monkeypatch.setattr("nafs.pictures.plots._MANY", 50)
    (axis,) = plot_map(embed(graph, n_hops=1)).axes
    assert "50 of 80 nodes" in axis.get_title()
    assert sum(len(points.get_offsets()) for points in axis.collections) == 50


def test_the_grid_has_two_rows_of_maps(graph):
    figure = plot_hop_grid(graph.features.dense, graph.adjacency, hops=(0, 2, 5))
    titles = [axis.get_title() for axis in figure.axes]
    assert titles == ["the features", "2 hops", "5 hops"] * 2
    assert [figure.axes[i].get_ylabel() for i in (0, 3)] == ["NAFS", "Â^k X"]


def test_weights_by_degree_are_the_means_of_the_groups(graph):
    (axis,) = plot_weights_by_degree(graph.features.dense, graph.adjacency, n_hops=4, groups=3).axes
    degrees = np.diff(graph.adjacency.indptr)
    weights = smoothing_weights(graph.features.dense, graph.adjacency, 4, 0.5)
    first = axis.lines[0].get_ydata()
    low, high = map(int, legend(axis)[0].split("degree ")[1].split(" (")[0].split(" to "))
    mine = (degrees >= low) & (degrees <= high)
    np.testing.assert_allclose(first, weights[mine].mean(axis=0), rtol=1e-5)
    assert axis.get_xlabel() == "hop k"


def test_curves_have_means_and_deviations():
    figure = plot_curves({"one": ([1, 2], [[0.0, 2.0], [4.0, 4.0]])}, y="points")
    (axis,) = figure.axes
    assert axis.lines[0].get_ydata().tolist() == [1.0, 4.0]
    assert axis.get_ylabel() == "points"
    assert legend(axis) == ["one"]
