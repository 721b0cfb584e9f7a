"""A saved model: its journal, damaged folders, recipes, and the command that updates it."""

import json

import numpy as np
import pandas as pd
import pytest
from models import assert_equal_to_full, model_of
from typer.testing import CliRunner

from nafs import Graph
from nafs._support.errors import InputError
from nafs.cli.app import app
from nafs.model import Model
from nafs.model.undo import Undo
from nafs.pipeline import Settings
from nafs.smoothing import Method

METHOD = Method(2, (0.0, 0.5))


def test_updates_are_added_to_the_folder(tmp_path):
    model = model_of(0, METHOD)
    model.save(tmp_path / "model")
    for number, gone in enumerate(["n3", "n4"], start=1):
        loaded = Model.load(tmp_path / "model", n_threads=1)
        report = loaded.update(remove_nodes=[gone], edges=(["n7"], [f"new{number}"]), missing="zeros")
        assert not report.full
        loaded.save(tmp_path / "model")
        assert (tmp_path / "model" / f"changes-00000{number}").is_dir()
        again = Model.load(tmp_path / "model", n_threads=1)
        np.testing.assert_array_equal(again.matrix, loaded.matrix)
        assert again.ids.tolist() == loaded.ids.tolist()
        assert_equal_to_full(again)


def test_two_programs_do_not_overwrite_each_other(tmp_path):
    model_of(0, METHOD).save(tmp_path / "model")
    first, second = (Model.load(tmp_path / "model", n_threads=1) for _ in range(2))
    for each in (first, second):
        each.update(edges=(["n1"], ["n2x"]), missing="zeros")
    first.save(tmp_path / "model")
    with pytest.raises(InputError, match="another program"):
        second.save(tmp_path / "model")


@pytest.mark.parametrize("damage", ["missing", "short", "json", "journal"])
def test_damaged_folders_are_named(tmp_path, damage):
    folder = tmp_path / "model"
    model_of(0, METHOD).save(folder)
    if damage == "missing":
        (folder / "states.npy").unlink()
    elif damage == "short":
        np.save(folder / "states.npy", np.zeros((3, 2), np.float32))
    elif damage == "json":
        (folder / "model.json").write_text("{")
    else:
        (folder / "changes-000002").mkdir()
    with pytest.raises(InputError, match="is damaged"):
        Model.load(folder)


def test_new_rows_are_prepared_like_the_first_ones(tmp_path):
    A, X = np.ones((6, 6)) - np.eye(6), np.arange(24.0).reshape(6, 4) ** 1.3
    settings = Settings.of(n_hops=2, preprocessing="standardize", dim=3)
    model = Model.build(Graph(A, X), settings)
    before = model._store.kept.features[2].copy()
    model.save(tmp_path / "model")
    again = Model.load(tmp_path / "model")
    again.update(edges=([6], [0]), features=([6], X[2:3]))
    np.testing.assert_allclose(again._store.kept.features[6], before, atol=1e-6)
    with pytest.raises(InputError, match="the model has 4"):
        again.update(features=([7], [[1.0, 2.0]]))


def test_an_error_leaves_the_model_as_it_was(monkeypatch):
    model = model_of(1, METHOD)
    before, degrees = model.matrix.copy(), model._store.kept.degrees.copy()

    def fail(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(model._store.spreading, "follow", fail)
    with pytest.raises(KeyboardInterrupt):
        model.update(edges=(["n1"], ["n2"]), features=(["n3"], np.ones((1, 10))))
    monkeypatch.undo()
    np.testing.assert_array_equal(model.matrix, before)
    np.testing.assert_array_equal(model._store.kept.degrees, degrees)
    assert_equal_to_full(model)


def test_undo_restores_the_oldest_values():
    values = np.arange(3)
    undo = Undo()
    undo.write(values, [1], 5)
    undo.write(values, [1], 7)
    undo.take_back()
    assert values.tolist() == [0, 1, 2]


def run(*arguments):
    result = CliRunner().invoke(app, [str(part) for part in arguments])
    assert result.exit_code == 0, result.output
    return result


def test_the_commands(tmp_path):
    rng = np.random.default_rng(0)
    ids = [f"p{i}" for i in range(40)]
    nodes = pd.DataFrame({"id": ids, "a": rng.random(40), "b": rng.random(40), "c": rng.random(40)})
    edges = pd.DataFrame({"source": rng.choice(ids, 90), "target": rng.choice(ids, 90)})
    new = ~(edges.source.isin(ids[36:]) | edges.target.isin(ids[36:]))
    edges[new].to_csv(tmp_path / "e0.csv", index=False)
    edges[~new].to_csv(tmp_path / "e1.csv", index=False)
    nodes[:36].to_csv(tmp_path / "n0.csv", index=False)
    nodes[36:].to_csv(tmp_path / "n1.csv", index=False)
    edges.to_csv(tmp_path / "all.csv", index=False)
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    model = tmp_path / "model"
    run(
        "embed",
        tmp_path / "e0.csv",
        "-f",
        tmp_path / "n0.csv",
        "--hops",
        3,
        "-o",
        tmp_path / "v0.csv",
        "--keep",
        model,
    )
    result = run(
        "update",
        model,
        "--edges",
        tmp_path / "e1.csv",
        "-f",
        tmp_path / "n1.csv",
        "-o",
        tmp_path / "v1.csv",
        "--json",
    )
    facts = json.loads(result.stdout)
    assert (facts["new"], facts["nodes"]) == (4, 40)
    run("embed", tmp_path / "all.csv", "-f", tmp_path / "nodes.csv", "--hops", 3, "-o", tmp_path / "v.csv")
    updated, full = (pd.read_csv(tmp_path / name).set_index("id") for name in ("v1.csv", "v.csv"))
    np.testing.assert_allclose(updated.loc[full.index], full, atol=1e-5)
    (tmp_path / "gone.csv").write_text("id\np0\np1\n")
    run("update", model, "--remove-nodes", tmp_path / "gone.csv", "--changed", tmp_path / "changed.csv")
    assert not {"p0", "p1"} & set(pd.read_csv(tmp_path / "changed.csv").id)
    assert Model.load(model).n_nodes == 38
