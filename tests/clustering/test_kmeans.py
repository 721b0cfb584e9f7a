"""K-means with points in columns, against the definitions."""

import numpy as np
import pytest

from nafs.clustering.kmeans import kmeans, means_of, members_of, nearest_members


@pytest.mark.parametrize("n_clusters", [1, 2, 7])
def test_every_point_belongs_to_its_nearest_center(n_clusters):
    rng = np.random.default_rng(n_clusters)
    points = rng.standard_normal((200, 5)).astype(np.float32)
    centers = rng.standard_normal((n_clusters, 5)).astype(np.float32)
    apart = ((points[:, None] - centers) ** 2).sum(axis=2)
    members = nearest_members(np.ascontiguousarray(points.T), centers)
    np.testing.assert_array_equal(members, members_of(apart.argmin(axis=1), n_clusters))


def test_of_equal_centers_the_first_gets_all_points():
    points = np.array([[0.0, 1.0], [2.0, 3.0], [9.0, 9.0]])
    centers = np.array([[1.0, 1.0], [9.0, 9.0], [1.0, 1.0], [9.0, 9.0]])
    members = nearest_members(np.ascontiguousarray(points.T), centers)
    np.testing.assert_array_equal(members.argmax(axis=0), [0, 0, 1])
    assert members.sum() == 3


def test_means_and_sizes_of_clusters():
    points = np.array([[0.0, 1.0], [2.0, 3.0], [9.0, 9.0], [9.0, 8.0]])
    clusters = np.array([0, 0, 2, 2])
    means, sizes = means_of(points, members_of(clusters, 3))
    np.testing.assert_allclose(means, [[1, 2], [0, 0], [9, 8.5]])
    np.testing.assert_array_equal(sizes, [2, 0, 2])


@pytest.mark.parametrize("distinct", [1, 2, 3])
def test_there_may_be_fewer_distinct_points_than_clusters(distinct):
    places = np.arange(distinct)[np.arange(40) % distinct]
    clusters = kmeans(places[:, None].astype(np.float32), 4, np.random.default_rng(0), 20)
    assert len(np.unique(clusters)) == distinct
    assert all(len(np.unique(clusters[places == place])) == 1 for place in range(distinct))
