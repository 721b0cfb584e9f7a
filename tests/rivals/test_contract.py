"""Every rival keeps the contract: shape, determinism, better than chance, no access to evaluation data."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from nafs.datasets import contextual_sbm
from nafs.graph import Graph
from nafs.links import split_links
from nafs.rivals import RIVALS, OutOfMemoryError, Problem, Rival, judge, problem_of, rivals_for
from nafs.tasks import random_splits

SHORT = {
    "epochs": 60,
    "pretraining": 20,
    "every": 5,
    "walks": 5,
    "length": 20,
    "width": 16,
    "widths": (32, 16),
    "most": 5,
    "patience": 60,
    "rebuilds": 1,
    "lr": 0.01,
    "batch": 2000,
    "top": (0.05, 0.03),
}
PAIRS = [(rival, task) for rival in RIVALS.values() for task in rival.tasks]
IDS = [f"{rival.name}-{task}" for rival, task in PAIRS]


@pytest.fixture(scope="module")
def graph():
    return contextual_sbm(
        150, n_classes=3, average_degree=8, homophily=0.9, n_features=12, signal=3.0, seed=0
    )


@pytest.fixture(scope="module")
def split(graph):
    return random_splits(graph, count=1)[0]


def short(rival):
    """The same system with few epochs, which is enough for a graph of 150 nodes."""
    if rival.missing is not None:
        pytest.skip(f"{rival.name} needs {rival.missing}: pip install 'nafs[rivals]'")
    settings = {name: SHORT.get(name, value) for name, value in rival.settings.items()}
    return replace(rival, settings=settings)


def shortest(rival):
    """The same system with very few epochs: enough to see whether two runs agree."""
    rival = short(rival)
    few = {name: min(5, rival.settings[name]) for name in ("epochs", "pretraining") if name in rival.settings}
    return replace(rival, settings={**rival.settings, **few})


@pytest.mark.parametrize(("rival", "task"), PAIRS, ids=IDS)
def test_every_rival_solves_its_tasks_the_same_way_each_time(graph, split, rival, task):
    rival = shortest(rival)
    problem = problem_of(graph, task, split=split)
    steps = []
    first = rival(problem, 3, lambda done, total: steps.append((done, total)))
    second = rival(problem, 3)
    np.testing.assert_array_equal(first, second)
    assert len(first) == graph.n_nodes
    if first.ndim == 2:
        assert first.dtype == np.float32
        assert np.isfinite(first).all()
    else:
        assert task != "links"
        assert first.dtype.kind == "i"
        assert set(np.unique(first)) <= set(range(problem.n_clusters))
    assert all(0 <= done <= total for done, total in steps)


@pytest.mark.parametrize("rival", RIVALS.values(), ids=list(RIVALS))
def test_every_rival_takes_sparse_features_of_a_saved_graph(graph, split, rival, tmp_path):
    counts = sp.csr_array(np.maximum(graph.features.dense, 0))
    wide = sp.hstack([counts, sp.csr_array((graph.n_nodes, 200))])
    Graph(graph.adjacency, wide, labels=graph.labels).save(tmp_path / "graph")
    problem = problem_of(Graph.load(tmp_path / "graph"), rival.tasks[0], split=split)
    assert sp.issparse(problem.features)
    assert len(shortest(rival)(problem, 0)) == graph.n_nodes


@pytest.mark.parametrize(("rival", "task"), PAIRS, ids=IDS)
def test_every_rival_is_better_than_chance(graph, split, rival, task):
    values = judge(short(rival), graph, task, 0, split=split)
    measure = {"links": "AUC", "clustering": "ARI", "classification": "ACC"}[task]
    # The features alone say little about the edges, and the edges alone little about the classes.
    least = {"links": 0.55, "clustering": 0.1, "classification": 0.5}[task]
    assert values[measure] > least
    assert values["seconds"] > 0


def test_a_problem_holds_nothing_that_judges(graph, split):
    links = split_links(graph, seed=0)
    seen = problem_of(links.graph, "links").graph.adjacency.to_scipy()
    hidden = np.concatenate([links.test, links.validation])
    assert not np.asarray(seen[hidden[:, 0], hidden[:, 1]]).any()
    assert problem_of(graph, "clustering").graph.labels is None
    problem = problem_of(graph, "classification", split=split)
    assert problem.graph.labels is None
    assert (problem.codes[split["test"]] == -1).all()
    np.testing.assert_array_equal(problem.codes[split["train"]], graph.labels.codes[split["train"]])


@pytest.mark.parametrize("rival", [rival for rival, task in PAIRS if task == "classification"])
def test_other_labels_of_test_nodes_change_nothing(graph, split, rival):
    codes = graph.labels.codes.copy()
    codes[split["test"]] = np.random.default_rng(0).permutation(codes[split["test"]])
    other = Graph(graph.adjacency, graph.features, labels=codes)
    rival = shortest(rival)
    both = [rival(problem_of(some, "classification", split=split), 1) for some in (graph, other)]
    np.testing.assert_array_equal(*both)


def test_a_seed_matters_only_where_a_rival_says_so(graph):
    problem = problem_of(graph, "clustering")
    same = RIVALS["SGC"]
    assert not same.seeded
    np.testing.assert_array_equal(same(problem, 0), same(problem, 1))
    drawn = RIVALS["FastRP"]
    assert drawn.seeded
    assert (drawn(problem, 0) != drawn(problem, 1)).any()


AT_ONCE = ("raw features", "SVD of the features", "SC", "SGC", "SSGC", "SIGN")  # no steps to stop at


@pytest.mark.parametrize("rival", [r for r in RIVALS.values() if r.name not in AT_ONCE], ids=lambda r: r.name)
def test_every_rival_that_takes_steps_can_be_interrupted(graph, split, rival):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        short(rival)(problem_of(graph, rival.tasks[0], split=split), 0, stop)


def test_memory_is_estimated_before(graph):
    greedy = replace(RIVALS["SGC"], memory=lambda _: 10**18)
    with pytest.raises(OutOfMemoryError, match=r"SGC: out of memory \(needs 1e\+06 TB") as error:
        greedy(problem_of(graph, "links"))
    assert error.value.needs == 10**18
    assert RIVALS["AGE"].memory(graph) > 4 * graph.n_nodes**2


def test_bad_requests_are_answered_by_one_line(graph, split):
    problem = problem_of(graph, "links")
    with pytest.raises(ValueError, match="GCN cannot do links, only classification"):
        RIVALS["GCN"](problem)
    absent = replace(RIVALS["SGC"], extra="rivals")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nafs.rivals.contract.find_spec", lambda _: None)
        with pytest.raises(ImportError, match=r"SGC needs torch: pip install 'nafs\[rivals\]'"):
            absent(problem)
    bare = Graph(graph.adjacency, graph.features)
    with pytest.raises(ValueError, match="clustering needs labels or the number of clusters"):
        problem_of(bare, "clustering")
    with pytest.raises(ValueError, match="classification needs labels"):
        problem_of(bare, "classification", split=split)
    arrows = Graph(np.triu(graph.adjacency.to_scipy().toarray()), directed=True)
    with pytest.raises(ValueError, match="undirected"):
        problem_of(arrows, "links")
    assert problem_of(Graph(graph.adjacency), "links").features.shape[0] == 150, "structural features"


def test_published_settings_are_used_for_the_graphs_they_were_published_for(graph):
    age = RIVALS["AGE"]
    assert age.settings_for(Problem(graph, "links", dataset="wiki"))["hops"] == 1
    assert age.settings_for(Problem(graph, "links"))["hops"] == 8


def test_tiers():
    assert rivals_for("links", "none") == {}
    fast, everything = rivals_for("links", "fast"), rivals_for("links", "all")
    assert set(fast) < set(everything)
    assert "GAE" in fast
    assert "GAE" not in rivals_for("links", "fast", n_nodes=100_000)
    with pytest.raises(ValueError, match="rivals must be one of 'none', 'fast', 'all'; got 'some'"):
        rivals_for("links", "some")
    assert all(isinstance(rival, Rival) and rival.reference for rival in everything.values())


def test_importing_the_rivals_does_not_import_torch():
    import subprocess
    import sys

    code = "import nafs.rivals, sys; print('torch' in sys.modules or 'gensim' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
