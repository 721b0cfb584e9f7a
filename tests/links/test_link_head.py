"""The link head, and the numbers that it looks at."""

import json
import sys

import networkx as nx
import numpy as np
import pytest

from nafs import Graph, InputError, embed
from nafs.datasets import contextual_sbm, erdos_renyi, load_dataset, power_law
from nafs.graph import read_adjacency
from nafs.links import LinkHead, PairNumbers, ranking_measures, split_links
from nafs.links.head import NUMBERS
from nafs.links.pairs import are_edges, shared_neighbors, three_step_paths
from nafs.links.surroundings import Surroundings
from nafs.links.top import _meeting, _similar, hidden_among_first, level_degrees
from nafs.tasks import evaluate_links


@pytest.fixture(scope="module")
def graph():
    return power_law(400, average_degree=8, n_communities=4, n_features=16, signal=2.0, seed=0)


@pytest.fixture(scope="module")
def theirs(graph):
    return nx.from_scipy_sparse_array(graph.adjacency.to_scipy())


def some_pairs(graph, count=300):
    pairs = np.random.default_rng(0).integers(0, graph.n_nodes, (count, 2))
    return pairs[pairs[:, 0] != pairs[:, 1]]


def test_shared_neighbors_and_edges_are_networkxs(graph, theirs):
    pairs = some_pairs(graph)
    at, shared = shared_neighbors(graph.adjacency, pairs)
    for number, (first, second) in enumerate(pairs.tolist()):
        assert set(shared[at == number]) == set(nx.common_neighbors(theirs, first, second))
    expected = [theirs.has_edge(first, second) for first, second in pairs.tolist()]
    np.testing.assert_array_equal(are_edges(graph.adjacency, pairs), expected)


def test_the_numbers_of_pairs_by_their_definitions(graph, theirs):
    pairs = some_pairs(graph, 50)
    matrix = embed(graph, n_hops=3).matrix.astype(np.float64)
    values = dict(zip(NUMBERS, PairNumbers(graph.adjacency, matrix).of(pairs).T, strict=True))
    a, b = matrix[pairs[:, 0]], matrix[pairs[:, 1]]
    cosine = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    np.testing.assert_allclose(values["cosine"], cosine)
    listed = [tuple(pair) for pair in pairs.tolist()]
    allocated = [value for _, _, value in nx.resource_allocation_index(theirs, listed)]
    np.testing.assert_allclose(values["resource allocation"] ** 2, allocated, atol=1e-12)
    both_linked = np.array([min(theirs.degree(u), theirs.degree(v)) > 0 for u, v in listed])
    jaccard = np.array([value for _, _, value in nx.jaccard_coefficient(theirs, listed)])
    np.testing.assert_allclose(values["three-step paths"] ** 4, three_step_paths(graph.adjacency, pairs))
    np.testing.assert_allclose(values["Jaccard"][both_linked] ** 2, jaccard[both_linked], atol=1e-12)


def test_hits_and_reciprocal_ranks_by_their_definitions():
    rng = np.random.default_rng(1)
    edges, others = rng.normal(1, 1, 200), rng.normal(0, 1, 500)
    result = ranking_measures(edges, others)
    ranks = np.array([1 + (others > edge).sum() for edge in edges])
    assert result["MRR"] == pytest.approx(float((1 / ranks).mean()))
    for k in (10, 50, 100):
        assert result[f"Hits@{k}"] == pytest.approx(float((edges > np.sort(others)[-k]).mean()))


def test_the_head_uses_edges_where_vectors_say_nothing():
    graph = contextual_sbm(500, n_classes=25, average_degree=14, homophily=0.95, n_features=4, signal=0.0)
    noise = np.random.default_rng(0).standard_normal((500, 8)).astype(np.float32)
    by_head = evaluate_links(graph, lambda _: noise, splits=2)
    by_vectors = evaluate_links(graph, lambda _: noise, splits=2, score="cosine")
    assert by_head.mean("AUC") > 0.75
    assert by_vectors.mean("AUC") < 0.6


def test_a_head_can_be_written_down(graph):
    split = split_links(graph, seed=0)
    numbers = PairNumbers(split.graph.adjacency, embed(split.graph, n_hops=3).matrix)
    head = LinkHead.fit(numbers, split.validation, split.validation_none, split.validation_hard)
    again = LinkHead.from_dict(json.loads(json.dumps(head.as_dict())))
    np.testing.assert_array_equal(head.score(numbers, split.test), again.score(numbers, split.test))


@pytest.mark.parametrize(("limit", "most_missed"), [(10**6, 0), (0, 3)])
def test_suggestions_by_the_head_are_the_best_pairs_and_say_why(graph, monkeypatch, limit, most_missed):
    monkeypatch.setattr(sys.modules["nafs.similarity.likely_links"], "ALL_PAIRS", limit)
    embedding = embed(graph, n_hops="auto", goal="links")
    table = embedding.suggest_links(graph, 20, score="head").to_pylist()
    assert len(table) == 20
    numbers = PairNumbers(graph.adjacency, embedding.matrix)
    every = np.column_stack(np.triu_indices(graph.n_nodes, 1))
    linked = (np.diff(graph.adjacency.indptr)[every] > 0).all(axis=1)
    values, head = numbers.of(every[linked & ~are_edges(graph.adjacency, every)]), embedding.choice.head
    for name in ("degrees", "degree difference"):  # which do not count in suggestions
        values[:, list(NUMBERS).index(name)] = head.means[list(NUMBERS).index(name)]
    scores = np.sort(head.contributions(values).sum(axis=1))[::-1][:20]
    missed = sum(not np.isclose(score, [row["score"] for row in table], rtol=1e-4).any() for score in scores)
    assert missed <= most_missed, "candidates come from vectors and shared neighbors: nearly all that matters"
    pairs = np.array([[row["source"], row["target"]] for row in table])
    assert not are_edges(graph.adjacency, pairs).any()
    at, shared = shared_neighbors(graph.adjacency, pairs)
    for number, row in enumerate(table):
        if (at == number).any():
            named = row["reason"].split("both are linked to ")[1].split(";")[0].split(" and ")[0]
            assert {int(name) for name in named.split(", ")} <= set(shared[at == number].tolist())
    own = embedding.suggest_links(graph, 3, ids=[1, 2]).to_pylist()
    assert [row["source"] for row in own] == [1] * 3 + [2] * 3
    with pytest.raises(ValueError, match="score='head' needs an embedding"):
        embed(graph, n_hops=3).suggest_links(graph, 3, score="head")


@pytest.mark.parametrize(("name", "auc", "hard"), [("cora", 95, 93.5), ("citeseer", 96.8, 96)])
def test_real_links_are_predicted(data_home, name, auc, hard):
    graph = load_dataset(name).graph
    result = evaluate_links(graph, lambda some: embed(some, n_hops=10, preprocessing="auto").matrix, splits=2)
    assert 100 * result.mean("AUC") > auc
    assert 100 * result.mean("AUC hard") > hard


def test_three_step_paths_are_those_of_the_normalised_adjacency(graph, monkeypatch):
    monkeypatch.setattr("nafs.links.pairs._WORK", 500)  # several blocks
    pairs = some_pairs(graph)
    pattern = (graph.adjacency.to_scipy() != 0).astype(np.float64)
    roots = 1 / np.sqrt(np.maximum(np.asarray(pattern.sum(axis=1)).ravel(), 1))
    normalised = roots[:, None] * pattern.toarray() * roots
    expected = np.linalg.matrix_power(normalised, 3)[pairs[:, 0], pairs[:, 1]]
    np.testing.assert_allclose(three_step_paths(graph.adjacency, pairs), expected, rtol=1e-5)
    lonely = read_adjacency(np.zeros((3, 3)))
    assert three_step_paths(lonely, np.array([[0, 2]])) == 0
    monkeypatch.setattr("nafs.links.pairs.HUB", 0)
    assert three_step_paths(graph.adjacency, pairs).max() == 0


def test_a_head_of_another_version_is_refused():
    old = {name: [1.0] * 8 for name in ("weights", "means", "spreads")}
    with pytest.raises(InputError, match="another version of nafs: embed the graph again"):
        LinkHead.from_dict(old)


def test_contributions_add_up_to_the_score(graph):
    split = split_links(graph, seed=0)
    numbers = PairNumbers(split.graph.adjacency, embed(split.graph, n_hops=3).matrix)
    head = LinkHead.fit(numbers, split.validation, split.validation_none, split.validation_hard)
    values = numbers.of(split.test)
    x = np.clip((values - head.means) / head.spreads, -4, 4)
    products = np.einsum("pi,ij,pj->p", x, np.array(head.products), x)
    np.testing.assert_allclose(head.score(numbers, split.test), x @ head.weights + products)


def test_a_number_that_never_varies_adds_nothing_to_the_score():
    star = np.zeros((61, 61))
    star[0, 1:] = star[1:, 0] = 1
    vectors = np.random.default_rng(0).standard_normal((61, 4))
    embedding = embed(Graph(star, vectors), n_hops="auto", goal="links")
    assert "links are doubtful" in embedding.choice.explain()
    assert np.abs(embedding.suggest_links(Graph(star, vectors), 10)["score"].to_numpy()).max() < 1000


def test_links_that_cannot_be_predicted_are_called_doubtful():
    embedding = embed(erdos_renyi(300, 0.02, n_features=8, seed=0), n_hops="auto", goal="links")
    assert "links are doubtful" in embedding.choice.explain()


def test_reasons_name_what_a_pair_really_has():
    zeros = (0.0,) * len(NUMBERS)
    weights = [-1.0 if name == "degree difference" else 1.0 for name in NUMBERS]
    square = tuple(zeros for _ in NUMBERS)
    head = LinkHead(tuple(weights), square, zeros, (1.0,) * len(NUMBERS))
    values = np.array([[-1.0 if name in ("degree difference", "Jaccard") else 0.0 for name in NUMBERS]])
    assert head.reasons(values) == [["nodes with about the same number of links"]]
    assert head.reasons(np.abs(values)) == [["a large share of their neighbors in common"]]


def test_vectors_are_not_called_more_similar_than_those_around_them_unless_they_are():
    at, n = list(NUMBERS).index("local cosine"), len(NUMBERS)
    weights, means = [0.0] * n, [0.0] * n
    weights[at], means[at] = 1.0, -1.0
    head = LinkHead(tuple(weights), ((0.0,) * n,) * n, tuple(means), (1.0,) * n)
    values = np.zeros((2, n))
    values[:, at] = [-0.2, 0.2]
    assert head.reasons(values) == [
        [],
        ["more similar to each other than to most of the nodes nearest to them"],
    ]


@pytest.mark.parametrize("goal", ["links", "clusters"])
@pytest.mark.parametrize("limit", [10**6, 0])
def test_the_first_suggestions_join_nodes_of_a_group(monkeypatch, limit, goal):
    monkeypatch.setattr(sys.modules["nafs.similarity.likely_links"], "ALL_PAIRS", limit)
    planted = contextual_sbm(
        500, n_classes=4, average_degree=6, homophily=0.8, n_features=12, signal=0.6, seed=3
    )
    edges = planted.adjacency.to_scipy().tolil()
    alone = np.array([7, 99, 250, 251, 400])
    edges[alone, :] = edges[:, alone] = 0
    hidden = split_links(Graph(edges.tocsr(), planted.features, labels=planted.labels), seed=0).graph
    embedding, group = embed(hidden, n_hops="auto", goal=goal), planted.labels.codes

    def share(score):
        table = embedding.suggest_links(hidden, 200, score=score)
        pairs = np.column_stack([table["source"].to_numpy(), table["target"].to_numpy()])
        assert len(pairs) == 200
        assert (np.diff(hidden.adjacency.indptr)[pairs] > 0).all(), "nobody asked for nodes without edges"
        assert np.bincount(pairs.ravel()).max() < 50, "no node crowds out the others"
        assert not any("hub" in reason for reason in table["reason"].to_pylist())
        return (group[pairs[:, 0]] == group[pairs[:, 1]]).mean()

    assert share(None) >= share("cosine") - 0.03
    assert share(None) > 0.8
    named = embedding.suggest_links(hidden, 3, ids=[7, 99])
    assert named["source"].to_pylist() == [7] * 3 + [99] * 3
    assert not set(named["target"].to_pylist()) & set(alone[2:].tolist())


def test_hidden_edges_among_the_first_pairs_are_those_of_an_exhaustive_ranking(graph, monkeypatch):
    monkeypatch.setattr("nafs.links.top._VALUES", 5000)  # several blocks
    monkeypatch.setattr("nafs.links.top._NEAREST", 400)
    monkeypatch.setattr("nafs.links.top._CANDIDATES", 10**6)
    split = split_links(graph, seed=0)
    numbers = PairNumbers(split.graph.adjacency, embed(split.graph, n_hops=3).matrix)
    head = LinkHead.fit(numbers, split.validation, split.validation_none, split.validation_hard)
    every = np.column_stack(np.triu_indices(graph.n_nodes, 1))
    linked = (np.diff(split.graph.adjacency.indptr)[every] > 0).all(axis=1)
    every = every[linked & ~are_edges(split.graph.adjacency, every)]
    values, hidden = numbers.of(every), set(map(tuple, np.sort(split.test, axis=1).tolist()))
    scores = {"head": head.contributions(level_degrees(head, values)).sum(axis=1), "cosine": values[:, 0]}
    counts = hidden_among_first(numbers, head, split.test)
    for name, score in scores.items():
        first = every[np.argsort(-score, kind="stable")[:200]].tolist()
        assert counts[name] == sum(tuple(pair) in hidden for pair in first)
    assert counts["head"] > 0


@pytest.mark.parametrize(("counts", "by"), [((3, 4), "cosine"), ((4, 4), "head")])
def test_suggestions_are_by_what_puts_more_hidden_edges_first(graph, monkeypatch, counts, by):
    first = dict(zip(("head", "cosine"), counts, strict=True))
    monkeypatch.setattr("nafs.selection.hops_for_links.hidden_among_first", lambda *_: first)
    embedding = embed(graph, n_hops="auto", goal="links")
    words = {"head": "the link head", "cosine": "cosine similarity"}[by]
    ranked = f"ranked by {words}: of the 200 pairs that the link head puts first, {counts[0]} are hidden"
    assert ranked in embedding.choice.explain()
    assert embedding.suggest_links(graph, 9).equals(embedding.suggest_links(graph, 9, score=by))


def test_pairs_with_much_in_common_are_found_without_looking_at_all(graph, monkeypatch):
    module = sys.modules["nafs.similarity.likely_links"]
    monkeypatch.setattr(module, "_WORK", 200)
    pattern = graph.adjacency.to_scipy().toarray() > 0
    degrees = pattern.sum(axis=1)
    allocated = np.triu((pattern / np.maximum(degrees, 1)) @ pattern.T, 1) * ~pattern
    done = []
    pairs = module._meeting_pairs(graph.adjacency, 50, done.append)
    ours = allocated[pairs[:, 0], pairs[:, 1]]
    np.testing.assert_allclose(ours, np.sort(allocated.ravel())[::-1][:50], rtol=1e-5)
    assert sum(done) == pytest.approx(1)


def test_close_vectors_are_found_without_comparing_all(monkeypatch):
    module = sys.modules["nafs.similarity.close_pairs"]
    monkeypatch.setattr(module, "PART", 50)
    monkeypatch.setattr(module, "LONGEST", 100)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 8)).repeat(2, axis=0) + 0.05 * rng.standard_normal((600, 8))
    edges = np.zeros((600, 600))
    edges[[0, 1], [1, 0]] = 1
    done = []
    pairs = module.close_pairs(read_adjacency(edges), rows.astype(np.float32), 299, progress=done.append)
    twins = {(first, first + 1) for first in range(2, 600, 2)}
    by_cosine = set(map(tuple, pairs[:299].tolist()))
    assert len(by_cosine & twins) > 290
    assert (0, 1) not in by_cosine
    products = np.triu(rows @ rows.T, 1)
    products[0, 1] = 0
    best = np.column_stack(np.unravel_index(np.argsort(-products.ravel())[:50], products.shape))
    assert len(set(map(tuple, best.tolist())) - set(map(tuple, pairs[299:].tolist()))) <= 2
    assert sum(done) == pytest.approx(1)


@pytest.mark.parametrize("n_compared", [400, 60])
def test_surroundings_are_the_nearest_nodes(monkeypatch, n_compared):
    monkeypatch.setattr("nafs.links.surroundings._COMPARISONS", n_compared * 400)
    monkeypatch.setattr("nafs.links.surroundings._FEWEST", 20)
    monkeypatch.setattr("nafs.links.surroundings._VALUES", 3000)  # several blocks
    rows = np.random.default_rng(0).standard_normal((400, 7)).astype(np.float32)
    mean = rows.mean(axis=0, dtype=np.float64)
    surroundings = Surroundings(rows, mean)
    assert len(surroundings.compared) == n_compared
    units = rows - mean
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    cosines = units @ units.T
    np.fill_diagonal(cosines, -1)
    nearest = np.sort(cosines[:, surroundings.compared], axis=1)[:, -10:].mean(axis=1)
    nodes = np.array([3, 5, 250, 399])
    np.testing.assert_allclose(surroundings.of(nodes), nearest[nodes], atol=1e-6)
    np.testing.assert_allclose(surroundings.of(np.arange(400)), nearest, atol=1e-6)


def test_one_vector_for_all_nodes_has_no_surroundings():
    rows = np.ones((5, 3), np.float32)
    np.testing.assert_array_equal(Surroundings(rows, rows.mean(axis=0)).of(np.arange(5)), 0)
    np.testing.assert_array_equal(Surroundings(rows[:1], np.zeros(3)).of(np.arange(1)), 0)


def test_a_node_far_from_all_others_is_recognised_by_its_nearest_one():
    rng = np.random.default_rng(0)
    crowd = np.array([1, 0, 0, 0]) + 0.05 * rng.standard_normal((60, 4))
    rows = np.vstack([crowd, -crowd, [[0, 1, 0, 0], [0, 0.5, 1, 0]]]).astype(np.float32)
    numbers = PairNumbers(read_adjacency(np.zeros((122, 122))), rows)
    values = dict(zip(NUMBERS, numbers.of(np.array([[0, 1], [120, 121]])).T, strict=True))
    assert values["centred cosine"][0] > values["centred cosine"][1]
    assert values["local cosine"][0] < values["local cosine"][1]


@pytest.mark.parametrize(("nearest", "candidates"), [(3, 10**6), (3, 40), (400, 40)])
def test_pruned_pairs_are_the_best_of_all(graph, monkeypatch, nearest, candidates):
    monkeypatch.setattr("nafs.links.top._VALUES", 3000)  # several blocks
    monkeypatch.setattr("nafs.links.top._REACHED", 500)
    monkeypatch.setattr("nafs.links.top._NEAREST", nearest)
    monkeypatch.setattr("nafs.links.top._CANDIDATES", candidates)
    pattern = graph.adjacency.to_scipy().toarray() > 0
    linked = pattern.any(axis=1)
    numbers = PairNumbers(graph.adjacency, embed(graph, n_hops=3).matrix)
    ends = np.flatnonzero(linked)[::3]
    units = numbers.matrix / np.linalg.norm(numbers.matrix, axis=1, keepdims=True)
    allocated = (pattern / np.maximum(pattern.sum(axis=1), 1)) @ pattern.T
    for values, pairs in (
        (units @ units.T, _similar(numbers, ends, linked)),
        (np.where(allocated > 0, allocated, -np.inf), _meeting(numbers, ends)),
    ):
        allowed = np.where(pattern | np.eye(len(pattern), dtype=bool) | ~linked, -np.inf, values)[ends]
        best = np.sort(np.sort(allowed, axis=1)[:, -nearest:].ravel())[::-1][:candidates]
        ours = values[pairs[:, 0], pairs[:, 1]]
        np.testing.assert_allclose(np.sort(ours)[::-1], best[best > -np.inf], rtol=1e-4, atol=1e-6)
        assert len(np.unique(pairs, axis=0)) == len(pairs)
        assert np.isin(pairs[:, 0], ends).all()
