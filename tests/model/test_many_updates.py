"""Many updates of one model: rounding, and nodes beyond the spare rows."""

import numpy as np
import oracle
import pytest
from closeness import assert_close
from models import assert_equal_to_full, model_of

from nafs import Graph
from nafs.model import Model
from nafs.smoothing import Method

METHOD = Method(2, (0.0, 0.5))


def follow_everything(monkeypatch):
    monkeypatch.setattr("nafs.model.updating.full_time", lambda *_: np.inf)


def test_a_full_run_follows_many_updates_and_the_report_says_why(tmp_path, monkeypatch):
    follow_everything(monkeypatch)
    monkeypatch.setattr("nafs.model.updating.MOST_ROUNDINGS", 6)  # three updates of two hops
    model_of(0, METHOD).save(tmp_path / "model")
    reports = []
    for step in range(5):
        model = Model.load(tmp_path / "model", n_threads=1)  # the count is saved with the model
        reports.append(model.update(features=(["n1"], np.full((1, 10), 1.0 + step))))
        model.save(tmp_path / "model")
    assert [report.full for report in reports] == [False, False, False, True, False]
    assert "rounding adds up, and the last full run was 3 updates ago" in reports[3].explain()
    assert_equal_to_full(Model.load(tmp_path / "model", n_threads=1))


def test_updates_that_fail_or_change_nothing_are_not_counted(monkeypatch):
    follow_everything(monkeypatch)
    model = model_of(0, METHOD)
    model.update()
    assert model._store.n_updates == 0
    with monkeypatch.context() as patched:
        patched.setattr("nafs.model.updating._follow", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.update(features=(["n1"], np.ones((1, 10))))
    assert model._store.n_updates == 0
    model.update(features=(["n1"], np.ones((1, 10))))
    assert model._store.n_updates == 1


def interrupted(*_):
    raise KeyboardInterrupt


def test_updates_go_on_where_the_full_run_that_is_due_does_not_fit(monkeypatch):
    follow_everything(monkeypatch)
    monkeypatch.setattr("nafs.model.updating.MOST_ROUNDINGS", 2)
    model = model_of(0, METHOD)
    assert not model.update(features=(["n1"], np.ones((1, 10)))).notes
    monkeypatch.setattr("nafs.model.store.Store.full_run_fits", lambda *_: False)
    report = model.update(features=(["n1"], np.full((1, 10), 2.0)))
    assert not report.full
    assert "a full run is due (rounding adds up, and the last full run was 1 updates ago)" in report.notes[0]
    assert_equal_to_full(model)


@pytest.mark.parametrize(("n_hops", "n_full_runs"), [(3, 2), (10, 8)])
def test_rounding_of_many_updates_of_one_node_does_not_show(monkeypatch, n_hops, n_full_runs):
    follow_everything(monkeypatch)
    n = 24
    step = np.roll(np.eye(n), 1, axis=1)
    A, X = step + step.T, np.linspace(0.5, 1, 2 * n).reshape(n, 2).astype(np.float32)
    model = Model.build(Graph(A, X), Method(n_hops, (0.5,)), n_threads=1)
    n_full = 0
    for _ in range(250):
        X[12] += np.float32(1e-3)
        n_full += model.update(features=([12], X[[12]]), tolerance=0.0).full
    assert n_full == n_full_runs
    assert_close(model.matrix, oracle.embedding(A, X, n_hops, (0.5,), "mean", "adaptive", "cosine"))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("saved", [False, True])
def test_nodes_beyond_the_spare_rows_get_neighbours(tmp_path, monkeypatch, directed, saved):
    follow_everything(monkeypatch)
    rng = np.random.default_rng(0)
    model = model_of(0, METHOD, directed=directed)
    spare = model._store.kept.capacity
    names = model.ids.tolist()
    for step in range(4):
        if saved:  # a loaded model has no spare rows at all
            model.save(tmp_path / "model")
            model = Model.load(tmp_path / "model", n_threads=1)
        new = [f"new{step}-{number}" for number in range(40)]
        ends = rng.choice([*names, *new], (60, 2)).tolist()
        edges = [[name, str(rng.choice(names))] for name in new] + [
            pair for pair in ends if pair[0] != pair[1]
        ]
        model.update(
            edges=tuple(zip(*edges, strict=True)), features=(new, rng.normal(size=(40, 10))), tolerance=0.0
        )
        names += new
        assert_equal_to_full(model)
    assert len(names) > spare
    last, back = new[-1], new[-2]
    model.update(remove_nodes=[last, back], tolerance=0.0)
    model.update(
        edges=([back, back, last], [names[0], new[0], back]),
        features=([back, last], rng.normal(size=(2, 10))),
        tolerance=0.0,
    )
    assert_equal_to_full(model)
