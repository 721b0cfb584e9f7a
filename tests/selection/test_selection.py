"""Preprocessing, clusters and the number of hops, chosen without labels."""

import numpy as np
import pytest
import scipy.sparse as sp
from command import run
from random_graphs import random_graph

from nafs import NAFS, Graph, embed
from nafs.clustering import mixture, project
from nafs.clustering.gaussian_mixture import fit_mixture
from nafs.clustering.measures import agreement
from nafs.datasets import contextual_sbm, power_law
from nafs.graph import read_features
from nafs.pipeline import Job, Settings, decide
from nafs.selection import LADDER, Choice, prepare, reduce


@pytest.fixture(scope="module")
def graph():
    return contextual_sbm(300, n_classes=3, n_features=12, signal=1.5, seed=0)


def choose(graph, **settings):
    return decide(Job.of(graph, Settings.of(n_hops="auto", **settings))).choice


# --- reduction and centre ---------------------------------------------------------


def test_centring_subtracts_the_common_row(graph):
    X, d = graph.features.dense.astype(float), graph.adjacency.degrees
    for center, common in (("mean", X.mean(axis=0)), ("stationary", d @ X / d.sum())):
        result = prepare(graph.features, graph.adjacency, "none", center)
        np.testing.assert_allclose(result.dense, X - common, atol=1e-5)
    assert prepare(graph.features, graph.adjacency) is graph.features, "nothing to do, nothing copied"


def test_the_stationary_center_is_the_limit_of_smoothing():
    from nafs import smoothed_features

    graph = contextual_sbm(60, average_degree=12, n_features=3, seed=3)
    assert graph.adjacency.components.max() == 0
    centred = prepare(graph.features, graph.adjacency, "none", "stationary")
    end = smoothed_features(centred.dense, graph.adjacency, 500, r=0.0)
    np.testing.assert_allclose(end, 0, atol=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_reduction_states_its_error(sparse):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((80, 5)) @ rng.standard_normal((5, 40))
    X[rng.random(X.shape) < 0.8] = 0 if sparse else 0.1
    features = read_features(sp.csr_array(X) if sparse else X)
    total = (X**2).sum()
    singular = np.linalg.svd(X, compute_uv=False)
    reduced, lost = reduce(features, 10)
    assert reduced.shape == (80, 10)
    assert lost == pytest.approx(1 - (singular[:10] ** 2).sum() / total, rel=0.05, abs=1e-6)
    assert reduce(features, 40) == (features, 0.0), "nothing to do"
    errors = [reduce(features, width, "random")[1] for width in (10, 39)]
    assert errors[1] < errors[0] < 1.5
    again, _ = reduce(features, 10, "random")
    np.testing.assert_array_equal(again.dense, reduce(features, 10, "random")[0].dense)
    with pytest.raises(ValueError, match="1 or more columns; got 0"):
        reduce(features, 0)
    with pytest.raises(ValueError, match="reduction must be one of"):
        reduce(features, 5, "magic")


def test_an_exact_reduction_commutes_with_smoothing(graph):
    from nafs.tasks import score_links

    wide = graph.features.dense @ np.random.default_rng(0).standard_normal((12, 40)).astype(np.float32)
    reduced, lost = reduce(read_features(wide), 12)
    assert lost < 1e-6
    pairs = np.random.default_rng(1).integers(0, 300, (50, 2))
    scores = [
        score_links(NAFS(5).fit_transform(X, adjacency=graph.adjacency), pairs) for X in (wide, reduced.dense)
    ]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-3, atol=1e-3)


# --- clusters ---------------------------------------------------------------------


@pytest.mark.parametrize("spread", [1e-3, 1e-5])
def test_the_mixture_separates_points_far_from_the_origin(spread):
    from sklearn.metrics import adjusted_rand_score

    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 4000)
    points = 4 * rng.standard_normal((4, 32))[truth] + rng.standard_normal((4000, 32))
    clusters = mixture((0.5 + spread * points).astype(np.float32), 4)
    assert adjusted_rand_score(truth, clusters) > 0.9


def test_the_mixture_agrees_with_scikit_learn():
    from sklearn.mixture import GaussianMixture

    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 600)
    points = 3 * rng.standard_normal((4, 5))[truth] + rng.standard_normal((600, 5)) * [1, 2, 3, 1, 0.5]
    ours = fit_mixture(points, truth, 4, 100)
    means = np.array([points[truth == code].mean(axis=0) for code in range(4)])
    apart = points - means[truth]
    theirs = GaussianMixture(
        4,
        covariance_type="tied",
        reg_covar=1e-4,
        means_init=means,
        weights_init=np.bincount(truth) / 600,
        precisions_init=np.linalg.inv(apart.T @ apart / 600 + 1e-4 * np.eye(5)),
    ).fit(points)
    assert ours.likelihood - 2.5 * np.log(2 * np.pi) == pytest.approx(theirs.lower_bound_, abs=1e-3)
    assert (ours.predict(points) == theirs.predict(points)).mean() > 0.99


def test_the_mixture_separates_clusters_with_one_stretched_covariance():
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 900)
    points = np.column_stack([3.0 * truth + 0.5 * rng.standard_normal(900), 4 * rng.standard_normal(900)])
    assert agreement(truth, mixture(points, 3, n_init=10))["ACC"] > 0.95
    assert agreement(truth, KMeans(3, n_init=5, random_state=0).fit_predict(points))["ACC"] < 0.6


def test_the_graph_decides_between_several_starts(graph):
    from nafs.clustering.measures import modularity

    points = project(np.random.default_rng(0).standard_normal((300, 6)), 6)  # no clusters at all
    alone = [mixture(points, 3, graph=graph.adjacency, seed=s, n_init=1) for s in range(8)]
    together = [mixture(points, 3, graph=graph.adjacency, seed=s, n_init=8) for s in range(8)]
    value = [
        np.mean([modularity(graph.adjacency, c) for c in partitions]) for partitions in (alone, together)
    ]
    assert value[1] > value[0]


@pytest.mark.parametrize("rows", [np.zeros((20, 4)), np.ones((20, 4)), np.eye(20)[:, :4]])
def test_few_distinct_points_are_not_an_error(rows):
    result = mixture(project(rows, 6), 3)
    assert result.shape == (20,)
    assert set(result) <= {0, 1, 2}


def test_a_large_matrix_is_fitted_on_a_sample_and_predicted_whole():
    truth = np.random.default_rng(0).integers(0, 4, 30_000)
    points = project(np.eye(4)[truth] + 0.1 * np.random.default_rng(1).standard_normal((30_000, 4)), 4)
    assert agreement(truth, mixture(points, 4, most=500))["ACC"] > 0.99


@pytest.mark.parametrize("shape", [(40, 10), (40, 1500)])
def test_the_projection_keeps_the_leading_directions(shape):
    rng = np.random.default_rng(0)
    matrix = (rng.standard_normal((40, 3)) @ rng.standard_normal((3, shape[1]))).astype(np.float32)
    rows = project(matrix, 3)
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    np.testing.assert_allclose(rows @ rows.T, unit @ unit.T, atol=1e-4)


# --- choices ----------------------------------------------------------------------


def test_hops_for_clusters_follow_the_graph(graph):
    choice = choose(graph, n_clusters=3)
    assert isinstance(choice, Choice)
    assert choice.n_hops in LADDER
    assert choice.preprocessing == "standardize"
    assert choice.center == "none"
    assert set(choice.curve) <= set(LADDER)
    assert choice.n_hops in choice.curve
    assert agreement(graph.labels.codes, choice.clustering.labels)["NMI"] > 0.6
    assert "preprocessing standardize" in choice.explain()
    assert f"{choice.n_hops} hop" in choice.explain()


def test_smoothing_is_chosen_where_it_helps():
    helps = contextual_sbm(600, n_classes=3, homophily=0.95, average_degree=12, signal=0.7, seed=1)
    truth = helps.labels.codes
    scores = []
    for hops in (0, "auto"):
        embedding = embed(helps, n_hops=hops, preprocessing="auto", n_clusters=3)
        clusters = mixture(project(embedding.matrix, 6), 3, graph=helps.adjacency)
        scores.append(agreement(truth, clusters)["NMI"])
    assert scores[1] > scores[0] + 0.2
    links = choose(helps, goal="links")
    assert max(links.curve.values()) > 0.6
    assert links.score in ("inner", "cosine")


def test_hops_for_links_best_separate_hidden_edges(graph):
    choice = choose(graph, goal="links")
    assert choice.curve[choice.n_hops] == max(choice.curve.values())
    assert choice.center in ("none", "mean")
    fixed = choose(graph, goal="links", center="stationary")
    assert fixed.center == "stationary"


def test_in_large_graphs_hops_for_links_must_pay(graph, monkeypatch):
    import nafs.selection.hops_for_links as module

    best = choose(graph, goal="links")
    monkeypatch.setattr(module, "LARGE", 100)
    monkeypatch.setattr(module, "TOLERANCE", 0.1)
    choice = choose(graph, goal="links")
    enough = max(choice.curve.values()) - 0.1
    assert choice.n_hops == min(hops for hops, value in choice.curve.items() if value >= enough)
    assert choice.n_hops < best.n_hops
    assert len(choice.curve) < len(best.curve)
    assert any("within 0.1 of the best" in reason for reason in choice.reasons)


def test_zero_hops_can_be_chosen_for_links(graph):
    rng = np.random.default_rng(0)
    place = rng.random((300, 2))
    near = np.linalg.norm(place[:, None] - place[None], axis=2) < 0.07
    graph = Graph(np.triu(near, 1), np.column_stack([np.cos(6 * place), np.sin(6 * place)]), directed=False)
    choice = choose(graph, goal="links", preprocessing="none")
    assert 0 in choice.curve


def test_structural_features_do_not_see_hidden_edges():
    from nafs.datasets import erdos_renyi

    noise = Graph(erdos_renyi(300, 0.02, seed=0).adjacency)
    choice = embed(noise, n_hops="auto", goal="links").choice
    assert max(choice.curve.values()) < 0.7, "there is nothing to be found in it"


def test_transform_scales_as_fit_did(graph):
    model = NAFS(2, preprocessing="standardize", center="mean").fit(graph)
    moved = Graph(graph.adjacency, graph.features.dense + 7)
    assert np.abs(model.transform(moved) - model.embedding_).max() > 1
    alone = model.transform(graph.features.dense[:1], adjacency=np.zeros((1, 1)))
    assert np.abs(alone).max() > 0


@pytest.mark.parametrize("scale", [0.1, 0.03, 0.01, 1e-3, 1e-4])
def test_clusters_are_found_however_close_the_rows(scale):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 600)
    rows = 1 + scale * (np.eye(8)[truth] + 0.1 * rng.standard_normal((600, 8)))
    assert agreement(truth, mixture(project(rows, 6), 3))["NMI"] > 0.95


def test_whole_numbers_and_huge_numbers_cluster_alike(graph):
    from nafs.tasks import cluster, evaluate_clustering

    embedding = embed(graph, n_hops=5, preprocessing="auto").matrix
    plain = cluster(embedding, 3, graph=graph)
    for other in (np.rint(1000 * embedding).astype(int), embedding * 1e25):
        assert agreement(plain, cluster(other, 3, graph=graph))["NMI"] > 0.9
    embedding[3, 1] = np.nan
    with pytest.raises(ValueError, match="the embedding contains NaN or inf"):
        evaluate_clustering(embedding, graph)


def test_a_limit_that_is_too_small_raises_before_features_are_copied():
    import tracemalloc

    wide = sp.random_array((4000, 3000), density=0.01, format="csr", rng=np.random.default_rng(0))
    graph = Graph(sp.csr_array((4000, 4000)), wide)
    for settings in ({"n_hops": "auto"}, {"n_hops": 3, "center": "mean"}):
        tracemalloc.start()
        with pytest.raises(MemoryError, match="memory_limit"):
            embed(graph, memory_limit="5MB", **settings)
        assert tracemalloc.get_traced_memory()[1] < 20e6
        tracemalloc.stop()


def test_the_same_choice_again_and_for_any_number_of_threads(graph):
    choices = [
        choose(graph, goal=goal, n_threads=threads) for goal in ("clusters", "links") for threads in (1, 2, 1)
    ]
    assert choices[0] == choices[1] == choices[2]
    assert choices[3] == choices[4] == choices[5]


@pytest.mark.parametrize("dim", [256, 40])
def test_directions_that_the_clusters_were_found_along_are_used_again(dim, monkeypatch):
    rng = np.random.default_rng(5)
    graph = Graph(contextual_sbm(400, seed=1).adjacency, rng.poisson(0.1, (400, 300)))
    again = embed(graph, n_hops="auto", n_clusters=3, dim=dim, structure="none")
    assert again.choice.directions.shape == (300, 256)
    monkeypatch.setattr("nafs.selection.hops_for_clusters._KEPT", 0)
    anew = embed(graph, n_hops="auto", n_clusters=3, dim=dim, structure="none")
    assert anew.choice.directions is None
    np.testing.assert_array_equal(again.matrix, anew.matrix)
    assert again.choice.reasons == anew.choice.reasons


def test_labels_are_not_looked_at(graph):
    rng = np.random.default_rng(0)
    shuffled = Graph(graph.adjacency, graph.features, labels=rng.permutation(graph.labels.codes))
    first, other = (embed(some, n_hops="auto", n_clusters=3) for some in (graph, shuffled))
    np.testing.assert_array_equal(first.matrix, other.matrix)


def test_nothing_is_chosen_for_a_given_number_of_hops(graph):
    plain = embed(graph, n_hops=5, structure="none")
    assert plain.choice.explain() == "nothing was chosen automatically"
    np.testing.assert_array_equal(
        plain.matrix, NAFS(5).fit_transform(graph.features.dense, adjacency=graph.adjacency)
    )


def test_the_estimator_chooses_and_explains(graph):
    model = NAFS("auto", n_clusters=3)
    Z = model.fit_transform(graph)
    assert model.n_hops_ == model.choice_.n_hops
    assert "hops" in model.explain()
    np.testing.assert_array_equal(Z, embed(graph, n_hops="auto", n_clusters=3, structure="none").matrix)
    np.testing.assert_array_equal(model.transform(graph), Z)
    explicit = NAFS(model.n_hops_, preprocessing="standardize").fit_transform(graph)
    np.testing.assert_array_equal(explicit, Z)
    swept = dict(NAFS("auto", n_clusters=3).sweep(graph, hops=[model.n_hops_]))
    np.testing.assert_array_equal(swept[model.n_hops_], Z)
    assert model.n_hops == "auto", "the parameter stays"


def test_an_edgeless_or_tiny_graph_still_gets_an_embedding():
    for n in (1, 2, 5, 30):
        graph = Graph(np.zeros((n, n)), np.random.default_rng(0).random((n, 3)))
        assert embed(graph, n_hops="auto").matrix.shape == (n, 3)
    pair = Graph(np.array([[0, 1], [1, 0]]), np.eye(2))
    assert embed(pair, n_hops="auto").choice.n_hops == 1


def test_a_memory_limit_is_kept_while_choosing():
    graph = power_law(3000, n_features=40, seed=0)
    with pytest.raises(MemoryError, match="memory_limit"):
        embed(graph, n_hops="auto", memory_limit="3MB")
    assert embed(graph, n_hops="auto", memory_limit="100MB").matrix.shape[0] == 3000


def test_within_a_memory_limit_fewer_nodes_are_compared():
    graph = power_law(8000, n_features=8, seed=0)

    def reasons(limit):
        return embed(graph, n_hops="auto", n_clusters=5, memory_limit=limit).choice.explain()

    assert "these are clusterings of" not in reasons("200MB")
    fewer = []
    for megabytes in range(60, 0, -2):
        try:
            said = reasons(f"{megabytes}MB")
        except MemoryError:
            break
        fewer.append("these are clusterings of 5,000 of 8,000 nodes" in said)
    assert fewer[-1], "a sample is tried before the limit is refused"
    assert fewer == sorted(fewer), "once the limit is too small for all nodes, it stays so"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_hops": "many"}, "n_hops must be a number or 'auto'; got 'many'"),
        ({"preprocessing": "magic"}, "preprocessing must be one of"),
        ({"center": "left"}, "center must be one of"),
        ({"goal": "fame"}, "goal must be one of"),
        ({"n_clusters": 0}, "n_clusters must be 1 or more"),
    ],
)
def test_bad_settings_are_named(graph, settings, message):
    with pytest.raises(ValueError, match=message):
        embed(graph, **settings)
    with pytest.raises(ValueError, match=message):
        NAFS(**settings).fit(graph)


def test_choices_that_the_graph_does_not_allow_are_named(graph):
    few = Graph(np.array([[0, 1], [1, 0]]), np.eye(2))
    with pytest.raises(ValueError, match="too few edges to hide"):
        embed(few, n_hops="auto", goal="links")


def test_the_command_reports_its_choices(place, capsys):
    words = ("embed", place / "e.csv", "-f", place / "f.csv", "-o", place / "out.npy")
    assert run(*words, "--hops", "auto", "--clusters", "2") == 0
    assert "chosen" in capsys.readouterr().err
    assert run(*words, "--hops", "several") == 2
    assert "--hops must be a whole number or auto; got 'several'" in capsys.readouterr().err


def test_features_can_be_reduced_before_smoothing_and_the_loss_is_reported():
    rng = np.random.default_rng(0)
    A, _ = random_graph(3, n=200)
    low = rng.normal(size=(200, 5)) @ rng.normal(size=(5, 60))
    exact = NAFS(3, ensemble="concat").fit_transform(low, adjacency=A)
    model = NAFS(3, ensemble="concat", dim=8).fit(low, adjacency=A)
    assert model.embedding_.shape == (200, 8 * 6)
    np.testing.assert_allclose(exact @ exact.T, model.embedding_ @ model.embedding_.T, rtol=1e-3, atol=1e-3)
    assert "60 features reduced to 8 by svd" in model.explain()
    assert list(model.get_feature_names_out()[:2]) == ["svd0_r0", "svd1_r0"]
    np.testing.assert_array_equal(model.transform(low, adjacency=A), model.embedding_)
    wide = rng.normal(size=(200, 900))
    random = NAFS(3, dim=300, reduction="random").fit(wide, adjacency=A)
    assert "deviation of squared lengths" in random.explain()
    assert embed(Graph(A, wide), n_hops=3, dim=300).matrix.shape == (200, 200)  # no more than nodes
    with pytest.raises(ValueError, match="dim must be 1 or more"):
        NAFS(dim=0).fit(wide, adjacency=A)
    with pytest.raises(ValueError, match="reduction must be"):
        NAFS(dim=5, reduction="pca").fit(wide, adjacency=A)
