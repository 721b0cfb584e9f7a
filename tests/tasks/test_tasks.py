"""Tasks measure what they claim to measure."""

import json
from functools import partial
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from command import run
from sklearn.metrics import normalized_mutual_info_score

from nafs import Graph, embed
from nafs.clustering.measures import agreement, conductance, modularity
from nafs.datasets import contextual_sbm, erdos_renyi, load_dataset, power_law
from nafs.tasks import (
    TaskResult,
    cluster,
    evaluate_classification,
    evaluate_clustering,
    evaluate_links,
    random_splits,
    score_links,
    split_links,
)


@pytest.fixture(scope="module")
def graph():
    return contextual_sbm(600, n_classes=3, average_degree=12, homophily=0.85, signal=1.5, seed=0)


# --- quality ----------------------------------------------------------------------


def test_accuracy_is_that_of_the_best_renaming():
    rng = np.random.default_rng(0)
    for _ in range(20):
        truth, clusters = rng.integers(0, 4, 50), rng.integers(0, 4, 50)
        best = max(np.mean(np.array(names)[clusters] == truth) for names in permutations(range(4)))
        assert agreement(truth, clusters)["ACC"] == pytest.approx(best)
    perfect = agreement(np.array([0, 1, 2, 2]), np.array([2, 0, 1, 1]))
    assert perfect == {"ACC": 1, "NMI": 1, "ARI": 1, "F1": 1}
    spare = agreement(np.array([0, 0, 1, 1]), np.array([0, 1, 2, 2]))
    assert spare["ACC"] == 0.75


@pytest.mark.parametrize("n_clusters", [1, 2, 5, 30])
def test_kmeans_of_few_wide_rows_is_as_good_as_scikit_learns(n_clusters):
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(n_clusters)
    matrix = (
        rng.standard_normal((5, 300))[rng.integers(0, 5, 200)] + rng.standard_normal((200, 300))
    ).astype("f")
    labels = cluster(matrix, n_clusters, method="kmeans", n_init=10)
    inertia = sum(((matrix[labels == c] - matrix[labels == c].mean(0)) ** 2).sum() for c in np.unique(labels))
    theirs = KMeans(n_clusters, n_init=10, random_state=0).fit(matrix).inertia_
    assert inertia <= 1.02 * theirs
    np.testing.assert_array_equal(labels, cluster(matrix, n_clusters, method="kmeans", n_init=10))


def test_kmeans_of_rows_that_are_all_the_same():
    assert cluster(np.ones((20, 300), np.float32), 3, method="kmeans").shape == (20,)


def test_modularity_and_conductance_by_their_definitions(graph):
    rng = np.random.default_rng(1)
    clusters = rng.integers(0, 5, graph.n_nodes)
    A = graph.adjacency.to_scipy().toarray()
    degree, total = A.sum(axis=1), A.sum()
    same = clusters[:, None] == clusters[None, :]
    assert modularity(graph.adjacency, clusters) == pytest.approx(
        float(((A - np.outer(degree, degree) / total) * same).sum() / total)
    )
    cuts = []
    for c in range(5):
        inside = clusters == c
        cut = A[inside][:, ~inside].sum()
        cuts.append(cut / min(A[inside].sum(), A[~inside].sum()))
    assert conductance(graph.adjacency, clusters) == pytest.approx(np.mean(cuts))
    assert modularity(Graph(np.zeros((3, 3))).adjacency, np.arange(3)) == 0
    assert conductance(graph.adjacency, np.zeros(graph.n_nodes, int)) == 1, (
        "one cluster is no good clustering"
    )


def test_modularity_is_networkxs_with_weights_and_loops():
    import networkx as nx

    rng = np.random.default_rng(2)
    W = np.triu(rng.random((30, 30)) * (rng.random((30, 30)) < 0.3))
    W = W + np.triu(W, 1).T
    clusters = rng.integers(0, 3, 30)
    theirs = nx.from_numpy_array(W)
    groups = [set(np.flatnonzero(clusters == c).tolist()) for c in range(3)]
    ours = Graph(W, self_loops=True).adjacency
    assert modularity(ours, clusters) == pytest.approx(nx.community.modularity(theirs, groups), rel=1e-5)


def test_f1_is_the_mean_over_classes_and_only_labelled_nodes_judge(graph):
    from sklearn.metrics import f1_score

    truth, clusters = np.array([0, 0, 0, 0, 1, 2]), np.array([0, 0, 0, 1, 1, 1])
    named = np.array([0, 0, 0, 1, 1, 1])
    assert agreement(truth, clusters)["F1"] == pytest.approx(f1_score(truth, named, average="macro"))
    labels = graph.labels.to_arrow().to_pylist()
    Z = np.zeros((600, 3), np.float32)
    Z[np.arange(600), graph.labels.codes] = 1
    Z[:200] = Z[np.random.default_rng(0).permutation(200)]  # wrong for nodes whose labels are unknown
    labels[:200] = [None] * 200
    result = evaluate_clustering(Z, Graph(graph.adjacency, labels=labels), seeds=1)
    assert result.mean("ACC") == 1
    assert "compared on 400 nodes with a label" in str(result)


# --- clustering ----------------------------------------------------------------------


def test_clustering_finds_planted_classes(graph):
    result = evaluate_clustering(embed(graph, n_hops=5).matrix, graph, seeds=3)
    assert result.mean("NMI") > 0.8
    assert len(result.values["ACC"]) == 3
    assert "3 seeds" in str(result)
    raw = evaluate_clustering(graph.features.dense, graph, seeds=3)
    assert raw.mean("NMI") < result.mean("NMI")
    alone = evaluate_clustering(graph.features.dense, Graph(graph.adjacency), n_clusters=3, seeds=1)
    assert set(alone.values) == {"modularity", "conductance"}


def test_large_matrices_are_clustered_in_batches(monkeypatch, graph):
    Z = embed(graph, n_hops=5).matrix
    monkeypatch.setattr("nafs.clustering.kmeans._LARGE", 100)
    labels = cluster(Z, 3, method="kmeans", seed=0)
    assert normalized_mutual_info_score(labels, graph.labels.codes) > 0.7


def test_clustering_says_what_is_missing(graph):
    Z = graph.features.dense
    with pytest.raises(ValueError, match="needs labels, or the number of clusters: n_clusters"):
        evaluate_clustering(Z, Graph(graph.adjacency))
    with pytest.raises(ValueError, match=r"n_clusters must lie between 1 and .* 600; got 700"):
        evaluate_clustering(Z, graph, n_clusters=700)
    with pytest.raises(ValueError, match="at least 2 clusters"):
        evaluate_clustering(Z, Graph(graph.adjacency, labels=["a"] * 600))
    with pytest.raises(ValueError, match=r"shape \(5, 32\) for 600 nodes"):
        evaluate_clustering(Z[:5], graph)


# --- links ----------------------------------------------------------------------


def codes(pairs, n):
    return set((pairs[:, 0] * n + pairs[:, 1]).tolist())


def test_a_split_hides_edges_and_invents_none(graph):
    split, n = split_links(graph, seed=1), graph.n_nodes
    A = graph.adjacency.to_scipy().toarray() > 0
    visible = split.graph.adjacency.to_scipy().toarray() > 0
    hidden = np.concatenate([split.validation, split.test])
    assert A[hidden[:, 0], hidden[:, 1]].all()
    assert not visible[hidden[:, 0], hidden[:, 1]].any()
    assert visible.sum() // 2 + len(hidden) == graph.n_edges
    assert len(split.test) == int(graph.n_edges * 0.1)
    for none in (split.validation_none, split.test_none, split.test_hard):
        assert not A[none[:, 0], none[:, 1]].any()
        assert (none[:, 0] < none[:, 1]).all()
        assert len(codes(none, n)) == len(none)
    assert len(split.test_none) == len(split.test_hard) == len(split.test)
    degree = A.sum(axis=1)
    assert degree[split.test_hard].mean() > degree[split.test_none].mean()
    again = split_links(graph, seed=1)
    np.testing.assert_array_equal(again.test_hard, split.test_hard)
    assert not np.array_equal(split_links(graph, seed=2).test, split.test)


def test_links_are_predicted_from_what_is_left(graph):
    seen = []

    def make(some):
        seen.append(some.n_edges)
        return embed(some, n_hops=5).matrix

    result = evaluate_links(graph, make, splits=2)
    assert seen == [graph.n_edges - int(graph.n_edges * 0.1) - int(graph.n_edges * 0.05)] * 2
    assert result.mean("AUC") > 0.65, "at most 0.76 can be had: a class has many nodes"
    noise = evaluate_links(
        graph, lambda some: np.random.default_rng(0).random((some.n_nodes, 8)) - 0.5, splits=2, score="cosine"
    )
    assert abs(noise.mean("AUC") - 0.5) < 0.1


def test_auc_and_ap_are_scikit_learns_on_the_pairs_of_the_split():
    from sklearn.metrics import average_precision_score, roc_auc_score

    graph = power_law(800, seed=1)
    degrees = np.diff(graph.adjacency.indptr).astype(np.float32)[:, None]
    result = evaluate_links(graph, lambda _: degrees, splits=1, score="inner")
    split = split_links(graph, seed=0)
    truth = np.repeat([1, 0], len(split.test))
    for suffix, none in (("", split.test_none), (" hard", split.test_hard)):
        scores = score_links(degrees, np.concatenate([split.test, none]))
        assert result.values[f"AUC{suffix}"] == [roc_auc_score(truth, scores)]
        assert result.values[f"AP{suffix}"] == [average_precision_score(truth, scores)]
    assert result.mean("AUC") > 0.65
    assert result.mean("AUC hard") < 0.6, "degrees tell nothing where they are alike"
    assert result.mean("AP") != result.mean("AUC")


def test_a_split_keeps_weights_ids_and_loops():
    rng = np.random.default_rng(0)
    W = np.triu(rng.random((40, 40)) * (rng.random((40, 40)) < 0.3), 1)
    W = W + W.T + np.diag(np.full(40, 0.5))
    graph = Graph(W, np.eye(40), ids=[f"n{i}" for i in range(40)], self_loops=True)
    visible = split_links(graph).graph
    kept = visible.adjacency.to_scipy().toarray()
    np.testing.assert_allclose(kept[kept > 0], W.astype(np.float32)[kept > 0])
    np.testing.assert_allclose(np.diag(kept), 0.5)
    assert visible.ids.tolist() == graph.ids.tolist()


def test_scores_are_products_of_the_ends():
    Z = np.random.default_rng(0).random((6, 3)).astype(np.float32)
    Z[5] = 0
    pairs = np.array([[0, 1], [2, 3], [4, 5]])
    np.testing.assert_allclose(
        score_links(Z, pairs), (Z[pairs[:, 0]] * Z[pairs[:, 1]]).sum(axis=1), rtol=1e-6
    )
    assert score_links(Z, pairs, "cosine")[2] == 0
    with pytest.raises(ValueError, match="score must be one of"):
        score_links(Z, pairs, "manhattan")


def test_links_say_what_is_missing():
    few = Graph(np.array([[0, 1], [1, 0]]), np.eye(2))
    with pytest.raises(ValueError, match="too few edges to hide"):
        split_links(few)
    full = Graph(np.ones((30, 30)), np.eye(30))
    with pytest.raises(ValueError, match="too dense"):
        split_links(full)
    with pytest.raises(ValueError, match="undirected"):
        split_links(Graph(np.triu(np.ones((30, 30))), directed=True))
    with pytest.raises(ValueError, match="must be positive and add up to less than 1"):
        split_links(full, test=1.0)


# --- classification ----------------------------------------------------------------------


def test_classification_on_random_and_given_splits(graph):
    Z = embed(graph, n_hops=5).matrix
    splits = random_splits(graph, count=2)
    for split in splits:
        together = np.concatenate(list(split.values()))
        assert sorted(together) == list(range(600))
        assert set(graph.labels.codes[split["train"]]) == {0, 1, 2}
    result = evaluate_classification(Z, graph, splits)
    assert result.mean("ACC") > 0.9
    assert result.values == evaluate_classification(Z, graph, count=2).values
    with pytest.raises(ValueError, match="needs labels"):
        evaluate_classification(Z, Graph(graph.adjacency))
    with pytest.raises(ValueError, match="at least 2 classes"):
        evaluate_classification(Z, Graph(graph.adjacency, labels=[1] * 600))


def test_the_strength_is_chosen_on_the_validation_nodes(monkeypatch):
    import nafs.tasks.classification as module

    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 60)
    Z = rng.standard_normal((120, 6)) + labels[:, None] * 0.7
    graph = Graph(np.zeros((120, 120)), labels=labels)
    order = rng.permutation(120)
    split = {"train": order[:20], "validation": order[20:60], "test": order[60:]}
    scored = []
    real = module._best_model

    def spy(matrix, codes, parts):
        model = real(matrix, codes, parts)
        from sklearn.linear_model import LogisticRegression

        fits = [
            LogisticRegression(C=c, max_iter=500, tol=1e-3).fit(matrix[parts["train"]], codes[parts["train"]])
            for c in module.STRENGTHS
        ]
        best = [fit.score(matrix[parts["validation"]], codes[parts["validation"]]) for fit in fits]
        scored.append((model.C, module.STRENGTHS[int(np.argmax(best))]))
        return model

    monkeypatch.setattr(module, "_best_model", spy)
    evaluate_classification(Z, graph, [split])
    assert scored
    assert all(chosen == best for chosen, best in scored)


def test_splits_that_cannot_be(graph):
    with pytest.raises(ValueError, match="must be positive and add up to less than 1"):
        random_splits(graph, train=0.9, validation=0.9)
    few = Graph(np.zeros((4, 4)), labels=[0, 0, 1, 1])
    with pytest.raises(ValueError, match="too small to be split"):
        evaluate_classification(np.eye(4), few)
    with pytest.raises(ValueError, match="seeds must be at least 1"):
        evaluate_clustering(graph.features.dense, graph, seeds=0)
    with pytest.raises(ValueError, match="splits must be at least 1"):
        evaluate_links(graph, lambda some: some.features.dense, splits=0)
    with pytest.raises(ValueError, match=r"shape \(3, 2\) for 600 nodes"):
        evaluate_links(graph, lambda _: np.zeros((3, 2)))


def test_unlabelled_nodes_are_left_out(graph):
    labels = graph.labels.to_arrow().to_pylist()
    labels[:300] = [None] * 300
    partly = Graph(graph.adjacency, graph.features, labels=labels)
    split = {"train": np.arange(0, 400), "validation": np.arange(400, 500), "test": np.arange(500, 600)}
    assert evaluate_classification(embed(partly).matrix, partly, [split]).mean("ACC") > 0.8


# --- real data, by the paper's protocol ----------------------------------------------------------------


def test_link_prediction_on_cora_is_the_papers(planetoid_home):
    graph = load_dataset("cora").graph
    result = evaluate_links(graph, lambda some: embed(some, n_hops=9).matrix, splits=5, score="inner")
    assert result.mean("AUC") == pytest.approx(0.926, abs=0.015)
    assert result.mean("AP") == pytest.approx(0.938, abs=0.015)


def test_clustering_on_pubmed_is_the_papers(planetoid_home):
    graph = load_dataset("pubmed").graph
    result = evaluate_clustering(embed(graph, n_hops=56).matrix, graph, method="kmeans", seeds=1, n_init=2)
    assert result.mean("ACC") == pytest.approx(0.705, abs=0.01)
    assert result.mean("NMI") == pytest.approx(0.339, abs=0.01)


def test_what_is_chosen_without_labels_passes_the_best_trained_rival_on_links(planetoid_home):
    graph = load_dataset("cora").graph
    embed_for_links = partial(embed, n_hops="auto", goal="links")
    result = evaluate_links(graph, lambda some: embed_for_links(some).matrix, splits=2)
    assert result.mean("AUC") > 0.95  # AGE: 95.1 AUC, 94.6 AP
    assert result.mean("AP") > 0.945


def test_what_is_chosen_without_labels_clusters_well(data_home):
    if not (data_home / "graphdata" / "amazon_photo.npz").exists():
        pytest.skip("amazon_photo.npz is missing")
    graph = load_dataset("amazon-photo").graph
    result = evaluate_clustering(embed(graph, n_hops="auto", n_clusters=8).matrix, graph, seeds=1)
    assert result.mean("NMI") > 0.67
    assert result.mean("ACC") > 0.73


def test_classification_on_cora_is_near_the_papers(planetoid_home):
    data = load_dataset("cora")
    result = evaluate_classification(embed(data.graph, n_hops=17).matrix, data.graph, [data.split])
    assert result.mean("ACC") > 0.79


# --- the command ----------------------------------------------------------------------


def test_evaluate_a_graph_of_ones_own(graph, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    graph.save("g")
    assert run("evaluate", "g", "--seeds", "2", "--hops", "5") == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("NMI", "AUC", "AP hard", "classification"))
    assert run("evaluate", "g", "--task", "links", "--seeds", "2", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["results"][0]["metrics"]["AUC"]["mean"] > 0.6
    embed(graph, n_hops=5).write("z.parquet")
    embed(graph, n_hops=5).write("z.npy")
    for file in ("z.parquet", "z.npy"):
        assert run("evaluate", "g", "--embedding", file, "--seeds", "1", "--json") == 0
        tasks = [result["task"] for result in json.loads(capsys.readouterr().out)["results"]]
        assert tasks == ["clustering", "classification"]
    for words, message in (
        ("g --task dancing", "links, classification; got 'dancing'"),
        ("g --embedding z.npy --task links", "--embedding was computed with all edges"),
        ("g --seeds 0", "--seeds must be at least 1"),
        ("nowhere.csv", "no such file"),
    ):
        assert run("evaluate", *words.split()) == 2
        assert message in capsys.readouterr().err
    Path("short.csv").write_text("id,a\n1,2\n")
    assert run("evaluate", "g", "--embedding", "short.csv") == 2
    assert "599 of 600 nodes are not in it" in capsys.readouterr().err


def evaluated(capsys, *words):
    assert run("evaluate", *words, "--json") == 0
    return [result["metrics"] for result in json.loads(capsys.readouterr().out)["results"]]


def test_hidden_edges_stay_hidden_without_features(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    erdos_renyi(1500, 0.006, seed=3).save("noise")
    (result,) = evaluated(capsys, "noise", "--task", "links", "--hops", "3", "--seeds", "2")
    assert abs(result["AUC"]["mean"] - 0.5) < 0.08, "there is nothing to be known about a random graph"


def test_rows_of_a_matrix_go_by_id(graph, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    ends = np.column_stack([graph.adjacency.rows, graph.adjacency.indices])
    np.savetxt("e.csv", rng.permutation(ends), fmt="%d", delimiter=",")  # nodes come in another order
    np.save("y.npy", graph.labels.codes)
    np.save("z.npy", np.eye(3, dtype=np.float32)[graph.labels.codes])
    words = ("e.csv", "-l", "y.npy", "--task", "clustering", "--seeds", "1", "--embedding")
    assert evaluated(capsys, *words, "z.npy")[0]["ACC"]["mean"] == 1
    assert run("embed", "e.csv", "-o", "own.npy", "--hops", "5", "-q") == 0  # leaves its ids beside it
    assert run("embed", "e.csv", "-o", "own.parquet", "--hops", "5", "-q") == 0
    a, b = (evaluated(capsys, *words, name)[0] for name in ("own.npy", "own.parquet"))
    assert a == b
    assert a["NMI"]["mean"] > 0.5
    np.save("bad.npy", np.full((600, 2), np.nan))
    assert run("evaluate", "e.csv", "-l", "y.npy", "--embedding", "bad.npy", "--task", "clustering") == 2
    assert "600 of its rows hold NaN or inf" in capsys.readouterr().err


def test_options_of_evaluate_count(graph, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    graph.save("g")
    inner, cosine = (
        evaluated(capsys, "g", "--task", "links", "--seeds", "1", "--score", score)[0]["AUC"]["mean"]
        for score in ("inner", "cosine")
    )
    assert inner != cosine
    two, five = (
        evaluated(capsys, "g", "--task", "clustering", "--seeds", "1", "--clusters", n)[0]["NMI"]["mean"]
        for n in ("2", "5")
    )
    assert two != five
    for words, message in (
        ("cora -f x.csv", "--features has no effect"),
        ("g --score foo", "score must be one of"),
    ):
        assert run("evaluate", *words.split()) == 2
        assert message in capsys.readouterr().err
    Graph(np.kron(np.eye(20), np.ones((3, 3))), np.eye(60), labels=np.arange(60) // 2).save("tiny")
    assert run("evaluate", "tiny", "--seeds", "1") == 0
    shown = capsys.readouterr()
    assert "AUC" in shown.out
    assert "too small to be split" in shown.err


def test_a_result_shows_its_mean():
    result = TaskResult("t", {"m": [1.0, 3.0]}, "how")
    assert (result.mean("m"), result.deviation("m")) == (2, 1)
    assert result.as_dict()["metrics"]["m"] == {"mean": 2, "deviation": 1}
