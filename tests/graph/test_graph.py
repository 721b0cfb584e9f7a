"""Input is converted to one canonical form by documented rules, or rejected with a reason."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph
from threadpoolctl import threadpool_limits

from nafs import NAFS
from nafs.graph import Adjacency, nearest_neighbor_graph, read_adjacency, read_features

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def dense(graph):
    return graph.to_scipy().toarray()


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float32, np.float64])
def test_every_sparse_format_and_dtype_gives_the_same_graph(form, kind, dtype):
    graph = read_adjacency(kind(PATH.astype(dtype)).asformat(form))
    assert np.array_equal(dense(graph), PATH)
    assert graph.weights is None
    assert graph.indptr.dtype == np.int64
    assert graph.indices.dtype == np.int32
    assert graph.degrees.tolist() == [2, 3, 2]


def test_a_numpy_array_is_a_graph_too():
    assert np.array_equal(dense(read_adjacency(PATH)), PATH)


def test_a_read_graph_is_returned_as_it_is():
    graph = read_adjacency(PATH)
    assert read_adjacency(graph, 3) is graph


@pytest.mark.parametrize("repeats", [2, 300])
@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
def test_duplicate_edges_of_an_unweighted_graph_count_once(repeats, form):
    rows, columns = np.nonzero(PATH)
    rows, columns = np.tile(rows, repeats), np.tile(columns, repeats)
    if form == "coo":
        matrix = sp.coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(3, 3))
    else:
        order = np.argsort(rows, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows))])
        matrix = {"csr": sp.csr_array, "csc": sp.csc_array}[form](
            (np.ones(len(rows), np.int8), columns[order], indptr), shape=(3, 3)
        )
    before = matrix.nnz
    graph = read_adjacency(matrix)
    assert graph.weights is None
    assert np.array_equal(dense(graph), PATH)
    assert matrix.nnz == before, "the caller's matrix was changed"


def test_duplicate_edges_of_a_weighted_graph_add_up():
    matrix = sp.coo_array(([2.0, 3.0, 5.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    graph = read_adjacency(matrix)
    assert dense(graph).tolist() == [[0, 5], [5, 0]]
    assert graph.degrees.tolist() == [6, 6]


def test_stored_zeros_are_not_edges():
    matrix = sp.coo_array(([0.0, 1.0, 1.0], ([0, 0, 1], [2, 1, 0])), shape=(3, 3))
    assert read_adjacency(matrix).n_stored == 2
    assert matrix.nnz == 3


def test_self_loops_are_dropped_or_kept():
    matrix = sp.csr_array(PATH + np.diag([1, 0, 1]))
    assert np.array_equal(dense(read_adjacency(matrix)), PATH)
    kept = read_adjacency(matrix, self_loops=True)
    assert kept.degrees.tolist() == [3, 3, 3]
    X = np.eye(3)
    with_loops = NAFS(1, 0.0, weighting="last", self_loops=True).fit_transform(X, adjacency=matrix)
    np.testing.assert_allclose(with_loops[0], [2 / 3, 1 / 3, 0], rtol=1e-6)


def test_direction_is_dropped_with_a_warning_silently_or_not_at_all():
    arrow = sp.csr_array(np.array([[0, 1], [0, 0]]))
    with pytest.warns(UserWarning, match=r"1 edges have no reverse.*directed=False") as record:
        graph = read_adjacency(arrow)
    assert record[0].filename == __file__
    assert dense(graph).tolist() == [[0, 1], [1, 0]]
    assert dense(read_adjacency(arrow, directed=False)).tolist() == [[0, 1], [1, 0]]
    kept = read_adjacency(arrow, directed=True)
    assert dense(kept).tolist() == [[0, 1], [0, 0]]
    assert kept.directed


def test_weights_that_differ_by_direction_take_the_larger():
    with pytest.warns(UserWarning, match="differ in weight by direction"):
        graph = read_adjacency(np.array([[0, 2.0], [5.0, 0]]))
    assert dense(graph).tolist() == [[0, 5], [5, 0]]


def test_smoothing_along_the_direction():
    arrow = np.array([[0, 1], [0, 0]])
    X = np.array([[0.0], [4.0]])
    embedding = NAFS(1, 0.0, weighting="last", directed=True).fit_transform(X, adjacency=arrow)
    assert embedding.tolist() == [[2.0], [4.0]]
    for distance in ("euclidean", "stationary_cosine"):
        with pytest.raises(ValueError, match="defined for undirected graphs"):
            NAFS(directed=True, distance=distance).fit(X, adjacency=arrow)


@pytest.mark.parametrize("as_weights", [False, True])
def test_components_edgeless_graphs_and_single_nodes(as_weights):
    assert read_adjacency(np.zeros((3, 3))).components.tolist() == [0, 1, 2]
    graph = read_adjacency(np.kron(np.eye(2), [[0, 1], [1, 0]]) * (2 if as_weights else 1))
    assert graph.components.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "stationary_cosine"])
@pytest.mark.parametrize("n_hops", [0, 1, 5])
def test_isolated_nodes_keep_their_features(distance, n_hops):
    X = np.array([[1.0, -2.0], [0.0, 0.0], [3.0, 4.0]])
    for n in (1, 3):
        embedding = NAFS(n_hops, distance=distance).fit_transform(X[:n], adjacency=np.zeros((n, n)))
        np.testing.assert_allclose(embedding, X[:n], rtol=1e-6)


def test_zero_hops_return_the_features():
    X = np.random.default_rng(0).normal(size=(3, 4))
    np.testing.assert_allclose(NAFS(0).fit_transform(X, adjacency=PATH), X, rtol=1e-6)


@pytest.mark.parametrize(
    ("adjacency", "error", "message"),
    [
        (np.ones((2, 3)), ValueError, "square; got 2 rows and 3 columns"),
        (np.ones(3), ValueError, r"square matrix; got shape \(3,\)"),
        (np.ones((2, 2)), ValueError, "has 2 nodes but the features have 3 rows"),
        ([[0, 1], [1, 0]], TypeError, "SciPy sparse matrix.*got builtins.list"),
        (PATH.astype(complex), TypeError, "dtype complex128"),
        (PATH.astype(object), TypeError, "dtype object"),
        (-PATH, ValueError, r"weight -1 of edge \(0, 1\) .* is negative.*4 edges in all"),
        (np.where(PATH, np.nan, 0), ValueError, r"edge \(0, 1\) .* NaN or infinite"),
        (np.where(PATH, np.inf, 0), ValueError, "NaN or infinite"),
        (PATH * 1e300, ValueError, "beyond 1e\\+30, too large"),
    ],
)
def test_bad_adjacencies_are_refused(adjacency, error, message):
    with pytest.raises(error, match=message):
        NAFS().fit(np.eye(3), adjacency=adjacency)
    if not isinstance(adjacency, list) and adjacency.ndim == 2 and adjacency.dtype != object:
        with pytest.raises(error, match=message):
            NAFS().fit(np.eye(3), adjacency=sp.csr_array(adjacency))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("index", [-1, 3, 2**31 - 1])
def test_indices_out_of_range_are_refused(form, index):
    matrix = sp.csr_array(PATH.astype(float)).asformat(form)
    (matrix.col if form == "coo" else matrix.indices)[-1] = index
    with pytest.raises(ValueError, match=f"index {index}, outside 0..2"):
        NAFS().fit(np.eye(3), adjacency=matrix)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("index", [-5, 90, 2_000_000_000])
def test_sparse_features_with_indices_out_of_range_are_refused(form, index):
    X = sp.random_array((90, 90), density=0.1, rng=np.random.default_rng(0), format=form)
    (X.col if form == "coo" else X.indices)[-1] = index
    with pytest.raises(ValueError, match=f"index {index}"):
        NAFS().fit(X, adjacency=np.zeros((90, 90)))


@pytest.mark.parametrize("indptr", [[0, 3, 1, 4], [1, 1, 3, 4], [0, 1, 3, 9]])
def test_a_broken_indptr_is_refused(indptr):
    matrix = sp.csr_array(PATH.astype(float))
    matrix.indptr = np.array(indptr, dtype=np.int32)
    with pytest.raises(ValueError, match="broken indptr"):
        NAFS().fit(np.eye(3), adjacency=matrix)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.coo_array, np.asfortranarray])
def test_features_of_every_kind(dtype, form):
    if dtype == np.float16 and form in (sp.csr_matrix, sp.coo_array):
        pytest.skip("SciPy has no sparse float16")
    expected = NAFS(3).fit_transform(PATH.astype(float), adjacency=PATH)
    embedding = NAFS(3).fit_transform(form(PATH.astype(dtype)), adjacency=PATH)
    assert embedding.dtype == np.float32
    assert np.array_equal(embedding, expected)


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "stationary_cosine"])
def test_sparse_features_stay_sparse_and_agree_with_dense_ones(distance):
    rng = np.random.default_rng(0)
    dense = rng.random((40, 90)) * (rng.random((40, 90)) < 0.1)
    A = sp.random_array((40, 40), density=0.1, rng=rng)
    repeated = sp.coo_array(sp.hstack([sp.coo_array(dense / 2), sp.coo_array((40, 0))]))
    doubled = sp.coo_array(
        (np.tile(repeated.data, 2), (np.tile(repeated.row, 2), np.tile(repeated.col, 2))), shape=(40, 90)
    )
    expected = NAFS(5, distance=distance, directed=False).fit_transform(dense, adjacency=A)
    for X in (sp.csr_array(dense), sp.csc_matrix(dense), doubled):
        assert read_features(X).sparse is not None
        embedding = NAFS(5, distance=distance, directed=False).fit_transform(X, adjacency=A)
        np.testing.assert_allclose(embedding, expected, rtol=1e-5, atol=1e-7)
    assert read_features(sp.csr_array(np.ones((3, 3)))).dense is not None


def test_float32_features_are_not_copied():
    X = np.ones((3, 2), np.float32)
    assert read_features(X).dense is X


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_with_nan_or_infinity_are_named(value, form):
    X = np.ones((9, 2))
    X[[1, 4, 5, 6, 7, 8], 1] = value
    for call in (read_features, lambda X: NAFS().fit(X)):
        with pytest.raises(ValueError, match=r"NaN or inf in 6 rows: 1, 4, 5, 6, 7, \.\.\."):
            call(form(X))


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        (np.ones((3, 2), complex), ValueError, "Complex data not supported"),
        (np.ones((0, 2)), ValueError, "0 sample|empty"),
        (np.ones((3, 0)), ValueError, "0 feature|empty"),
        (np.ones(3), ValueError, "1D array|matrix with one row per node"),
        (np.array([["a"], ["b"]]), (ValueError, TypeError), "numeric|dtype|booleans"),
        (np.full((2, 2), 1e300), ValueError, "reach 1e\\+300; beyond 1e\\+30 .*rescale"),
        (np.full((2, 2), 3e38, np.float32), ValueError, "reach 3e\\+38"),
    ],
)
def test_bad_features_are_refused(features, error, message):
    for call in (read_features, lambda X: NAFS().fit(X)):
        with pytest.raises(error, match=message):
            call(features)


def test_nearest_neighbours_of_a_table():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [12.5]])
    graph = nearest_neighbor_graph(X, n_neighbors=1)
    assert dense(graph).astype(int).tolist() == [
        [0, 1, 0, 0, 0],
        [1, 0, 0, 0, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 1, 0, 1],
        [0, 0, 0, 1, 0],
    ]
    assert nearest_neighbor_graph(X, n_neighbors=99).n_stored == 20
    assert nearest_neighbor_graph(X[:1]).n_stored == 0


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_array])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_neighbours_do_not_depend_on_threads(form, metric):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (2500, 12)).astype(float)  # many rows are equally near, and some are equal
    X[:40] = X[0]
    graphs = []
    for count in (1, 2, 3):
        with threadpool_limits(count):
            graphs.append(nearest_neighbor_graph(form(X), 5, metric, n_jobs=count))
    for other in graphs[1:]:
        np.testing.assert_array_equal(other.indptr, graphs[0].indptr)
        np.testing.assert_array_equal(other.indices, graphs[0].indices)
    degrees = np.diff(graphs[0].indptr)
    assert degrees.min() >= 5
    assert not dense(graphs[0]).diagonal().any()


@pytest.mark.parametrize(
    ("n_jobs", "error"), [(0, ValueError), (-2, ValueError), (1.5, TypeError), ("2", TypeError)]
)
def test_a_number_of_jobs_that_is_none_is_refused(n_jobs, error):
    with pytest.raises(error, match="n_jobs must be"):
        nearest_neighbor_graph(np.eye(5), 2, n_jobs=n_jobs)


def test_neighbours_are_those_of_scikit_learn():
    X = np.random.default_rng(1).standard_normal((1500, 20))
    expected = kneighbors_graph(X, 4, include_self=False)
    np.testing.assert_array_equal(
        dense(nearest_neighbor_graph(X, 4)) > 0, (expected + expected.T).toarray() > 0
    )


@pytest.mark.parametrize(
    ("n", "error"), [(0, ValueError), (-2, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_bad_numbers_of_neighbours_are_refused(n, error):
    with pytest.raises(error, match="n_neighbors"):
        NAFS(n_neighbors=n).fit(np.eye(3))


def test_graphs_show_what_they_are():
    assert repr(read_adjacency(PATH)) == "Adjacency(3 nodes, 4 stored edges, undirected, unweighted)"
    with pytest.raises(TypeError, match="self_loops must be True or False"):
        read_adjacency(PATH, self_loops="no")
    with pytest.raises(ValueError, match="adjacency is empty"):
        read_adjacency(sp.csr_array((0, 0)))
    assert read_adjacency(PATH.astype(np.float16)).n_stored == 4


def test_bytes_held():
    assert Adjacency(np.zeros(4, np.int64), np.zeros(0, np.int32)).nbytes == 32


def test_weighted_degrees_of_any_range_of_nodes():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((40, 40)) * (rng.random((40, 40)) < 0.1), 1)
    upper[:, 33:] = 0  # the last nodes have no edges
    A = upper + upper.T
    graph = read_adjacency(sp.csr_array(A))
    for begin, end in ((0, 40), (0, 34), (5, 33), (33, 40), (20, 20)):
        np.testing.assert_allclose(graph.degrees_of(begin, end), 1 + A.sum(axis=1)[begin:end], rtol=1e-6)
