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
    monkeypatch.setattr("nafs.model.updating.MOST_UPDATES", 3)
    model_of(0, METHOD).save(tmp_path / "model")
    reports = []
    for step in range(5):
        model = Model.load(tmp_path / "model", n_threads=1)  # the count is saved with the model
        reports.append(model.update(features=(["n1"], np.full((1, 10), 1.0 + step))))
        model.save(tmp_path / "model")
    assert [report.full for report in reports] == [False, False, False, True, False]
    assert "rounding adds up, and the last full run was 3 updates ago" in reports[3].explain()
    assert_equal_to_full(Model.load(tmp_path / "model", n_threads=1))


def test_a_failed_update_is_not_counted(monkeypatch):
    model = model_of(0, METHOD)
    with pytest.raises(ValueError, match="unknown id"):
        model.update(remove_nodes=["nobody"])
    assert model._store.n_updates == 0


def test_rounding_of_many_updates_of_one_node_does_not_show(monkeypatch):
    follow_everything(monkeypatch)
    n = 24
    step = np.roll(np.eye(n), 1, axis=1)
    A, X = step + step.T, np.linspace(0.5, 1, 2 * n).reshape(n, 2).astype(np.float32)
    model = Model.build(Graph(A, X), Method(3), n_threads=1)
    n_full = 0
    for _ in range(250):
        X[12] += np.float32(1e-4)
        n_full += model.update(features=([12], X[[12]])).full
    assert n_full == 2
    assert_close(model.matrix, oracle.embedding(A, X, 3, model.method.r, "mean", "adaptive", "cosine"))


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
