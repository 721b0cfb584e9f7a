"""Every decision is made once: plan and embed agree, and nothing is computed twice."""

import inspect
import json
from collections import Counter

import numpy as np
import pytest
from command import run
from hypothesis import HealthCheck, given
from hypothesis import settings as rules
from hypothesis import strategies as st
from random_graphs import random_graph

import nafs
from nafs import NAFS, Graph, NodeEmbedder, embed
from nafs.engines import work
from nafs.graph import Adjacency
from nafs.pipeline import Job, Settings, decide, execute
from nafs.pipeline.settings import option_names
from nafs.smoothing import _kernel
from nafs.smoothing.method import DISTANCES, ENSEMBLES, WEIGHTINGS, Method


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pipeline")
    A, X = random_graph(0, n=200, density=0.04, n_features=40)
    graph = Graph(A, np.abs(X))
    graph.save(folder / "graph")
    return folder


def outcome(words, capsys):
    """Exit code, and the decision that a command prints."""
    code = run(*words, "--json")
    shown = capsys.readouterr()
    if code:
        return code, shown.err
    facts = json.loads(shown.out)
    return code, {name: value for name, value in facts["settings"].items() if name in option_names()}


@pytest.fixture(scope="module")
def no_probe():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nafs.cli.plan.guess_seconds", lambda *_, **__: 1.0)
        yield


@pytest.fixture(scope="module")
def any_limit():
    """Commands take limits below what Python itself needs."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SMALLEST", "LEARNING"):
            patch.setattr(f"nafs.cli.options.{name}", 0)
        yield


@pytest.mark.usefixtures("no_probe", "any_limit")
@rules(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    hops=st.sampled_from(["auto", "0", "1", "4"]),
    ensemble=st.sampled_from(ENSEMBLES),
    weighting=st.sampled_from(WEIGHTINGS),
    distance=st.sampled_from(DISTANCES),
    extra=st.lists(
        st.sampled_from(
            [
                ("--goal", "links"),
                ("--preprocessing", "standardize"),
                ("--center", "mean"),
                ("--dim", "7"),
                ("--float16",),
                ("--clusters", "3"),
                ("--structure", "8"),
                ("--reduction", "random"),
                ("--r", "0.2,0.7"),
                ("--center", "stationary"),
                ("--directed",),
                ("--threads", "1"),
                ("--seed", "1"),
            ]
        ),
        unique=True,
        max_size=3,
    ),
    engine=st.sampled_from(["auto", "auto", "memory", "disk"]),
    kilobytes=st.one_of(st.none(), st.integers(20, 100_000), st.integers(100_000, 300_000)),
)
def test_plan_and_embed_agree_for_any_flags(
    files, capsys, hops, ensemble, weighting, distance, extra, engine, kilobytes
):
    words = [files / "graph", "--hops", hops, "--ensemble", ensemble, "--weighting", weighting]
    words += ["--distance", distance, "--engine", engine, *(word for pair in extra for word in pair)]
    words += [] if kilobytes is None else ["--memory-limit", f"{kilobytes}kB"]
    planned = outcome(["plan", *words, "--work-dir", files / "work"], capsys)
    embedded = outcome(
        ["embed", *words, "-o", files / "z.npy", "--work-dir", files / "work", "--force"], capsys
    )
    assert planned == embedded


@pytest.mark.usefixtures("any_limit")
def test_the_flags_that_plan_and_embed_once_disagreed_on(tmp_path, capsys):
    from nafs.datasets import power_law

    power_law(20_000, average_degree=8, n_features=64, seed=0).save(tmp_path / "graph")
    words = [tmp_path / "graph", "--hops", "auto", "--memory-limit", "33.2MB"]
    codes = [run("plan", *words), run("embed", *words, "-o", tmp_path / "z.npy")]
    errors = capsys.readouterr().err.split("error:")[1:]
    assert codes == [2, 2]
    assert errors[0].split() == errors[1].split()


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_components_checksums_settings_and_method_are_computed_once(monkeypatch, tmp_path, engine):
    A, X = random_graph(1, n=200, n_features=24)
    graph = Graph(A, np.abs(X))
    calls = Counter()

    def count(target, name):
        original = getattr(target, name)

        def counted(*arguments, **options):
            calls[name] += 1
            return original(*arguments, **options)

        monkeypatch.setattr(target, name, counted)

    count(_kernel, "components")
    count(work, "fingerprint")
    monkeypatch.setattr("nafs.pipeline.job.fingerprint", work.fingerprint)
    built = Counter()
    for kind in (Settings, Method):
        monkeypatch.setattr(kind, "__init__", _counting(kind.__init__, built, kind.__name__))
    embed(graph, n_hops=3, distance="euclidean", preprocessing="l2", engine=engine, memory_limit="60MB")
    assert calls["components"] == 1
    assert calls["fingerprint"] == 1
    # A method is built to check the settings, and again with the number of hops that was decided.
    assert built == {"Settings": 1, "Method": 2}


def _counting(original, counter, name):
    def counted(self, *arguments, **options):
        counter[name] += 1
        original(self, *arguments, **options)

    return counted


def test_the_choice_of_an_engine_needs_one_plan_each(monkeypatch):
    from nafs.engines.disk import DiskEngine
    from nafs.engines.memory import MemoryEngine

    A, X = random_graph(2, n=300, n_features=24)
    plans = Counter()
    for kind in (MemoryEngine, DiskEngine):
        original = kind.plan
        monkeypatch.setattr(
            kind,
            "plan",
            lambda self, problem, original=original: plans.update([self.name]) or original(self, problem),
        )
    embed(Graph(A, X), n_hops=2, engine="disk", memory_limit="60MB")
    assert plans == {"disk": 1}
    plans.clear()
    NAFS(2).fit(Graph(A, X))
    assert plans == {"memory": 1}


@pytest.mark.parametrize(
    ("kind", "center"), [("none", "mean"), ("l2", "none"), ("tfidf", "none"), ("l2", "mean")]
)
def test_a_run_is_resumed_only_with_its_own_preparation(tmp_path, kind, center):
    A, X = random_graph(5, n_features=24)
    graph, calls = Graph(A, np.abs(X)), []

    def stop(at):
        calls.append(at)
        if len(calls) == 3:
            raise KeyboardInterrupt

    options = {"n_hops": 3, "engine": "disk", "work_dir": tmp_path / "work", "memory_limit": "60MB"}
    with pytest.raises(KeyboardInterrupt):
        embed(graph, progress=stop, **options)
    with pytest.raises(ValueError, match="holds another run: its preparation is none-none"):
        embed(graph, preprocessing=kind, center=center, resume=True, **options)
    resumed = embed(graph, resume=True, **options)
    np.testing.assert_array_equal(resumed.matrix, embed(graph, n_hops=3, engine="disk").matrix)


@pytest.mark.parametrize(
    ("options", "sparse"),
    [
        ({"preprocessing": "l2"}, False),
        ({"preprocessing": "standardize"}, False),
        ({"preprocessing": "standardize"}, True),
        ({"preprocessing": "tfidf"}, True),
        ({"center": "mean"}, True),
        ({"dtype": "float16"}, False),
    ],
    ids=str,
)
def test_the_plan_counts_copies_of_the_features(options, sparse):
    import tracemalloc

    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    X = rng.random((6000, 200), dtype=np.float32) * (rng.random((6000, 200)) < 0.1)
    A = sp.csr_array((6000, 6000))
    graph = Graph(A, sp.csr_array(X) if sparse else X)
    dtype = options.pop("dtype", "float32")
    decision = decide(Job.of(graph, Settings.of(n_hops=2, r=(0.0, 0.5), **options), dtype=dtype))
    execute(decision)  # the first run imports what it needs
    tracemalloc.start()
    outcome = execute(decide(decision.job))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert outcome.matrix.dtype == dtype
    assert peak <= decision.plan.nbytes, "an uncounted dense copy would be a fifth more"


def test_entry_points_share_names_and_defaults():
    def options(function):
        return {
            name: parameter.default
            for name, parameter in inspect.signature(function).parameters.items()
            if name in option_names()
        }

    library = Settings().as_dict()
    assert options(embed) == library
    nodes = options(NodeEmbedder)
    assert nodes == library
    clusters = options(nafs.cluster)
    assert clusters.pop("n_clusters") == "auto"
    assert clusters == {name: library[name] for name in clusters}
    estimator = options(NAFS)
    # The estimator is the paper's method to the digit; everything else returns vectors of a handy width.
    assert (estimator.pop("dim"), library.pop("dim")) == ("full", "auto")
    assert estimator == {name: library[name] for name in estimator}
    assert set(library) - set(estimator) == {"structure", "seed"}, "a table always has features"


def test_a_decision_describes_the_run():
    A, X = random_graph(3, n_features=12)
    job = Job.of(Graph(A, np.abs(X)), Settings.of(n_hops="auto", dim=5, n_clusters=2))
    decision = decide(job)
    rows = dict(decision.rows())
    assert rows["features"].startswith("5, reduced from 12; preprocessing: l2")
    assert f"{decision.choice.n_hops} hops" in rows["method"]
    assert rows["plan"].startswith("memory engine, one r at a time: ")
    outcome = execute(decision)
    assert outcome.matrix.shape == (60, decision.n_columns)
    assert outcome.settings["n_hops"] == decision.choice.n_hops


def test_planning_does_not_compute_structural_features(monkeypatch):
    graph = Graph(random_graph(4)[0])
    monkeypatch.setattr("nafs.pipeline.job.structural_features", None)
    assert decide(Job.of(graph, Settings.of(dim=16))).n_columns == 16


def test_unknown_options_are_named():
    with pytest.raises(TypeError, match="no option 'hops'; did you mean n_hops"):
        Settings.of(hops=3)
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'hops'"):
        embed(Graph(Adjacency(np.zeros(2, np.int64), np.zeros(0, np.int32))), hops=3)
    with pytest.raises(TypeError, match=r"'features'; pass a pair, \(edges, nodes\)"):
        nafs.embed(Graph(Adjacency(np.zeros(2, np.int64), np.zeros(0, np.int32))), features=None)


@pytest.mark.parametrize(
    ("options", "noted"),
    [({}, True), ({"preprocessing": "none"}, False), ({"preprocessing": "standardize"}, False)],
)
def test_a_column_that_outweighs_the_others_is_named(options, noted):
    adjacency, _ = random_graph(4)
    table = np.random.default_rng(0).random((60, 3)) * [1, 1, 50]
    graph = Graph(adjacency, table, feature_names=["age", "size", "income"])
    reasons = embed(graph, 2, **options).choice.reasons
    assert any("column 'income' outweighs the others" in reason for reason in reasons) == noted


def test_a_constant_column_outweighs_nothing():
    adjacency, _ = random_graph(4)
    table = np.random.default_rng(0).random((60, 2))
    for columns in (np.column_stack([table, np.full(60, 99.0)]), table * [1, 0]):
        assert not any("outweighs" in reason for reason in embed(Graph(adjacency, columns), 2).choice.reasons)
