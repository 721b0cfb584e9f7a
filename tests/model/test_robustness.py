"""Models that were loaded, written by two programs at once, interrupted or damaged."""

from pathlib import Path

import numpy as np
import pytest
from models import assert_equal_to_full, model_of

from nafs import Graph
from nafs._support.checksum import seal
from nafs._support.errors import InputError
from nafs._support.npy import load_npy, save_npy
from nafs.graph import read_adjacency
from nafs.model import Model, storage
from nafs.model.spread import Spreading
from nafs.smoothing import Method

METHOD = Method(2, (0.0, 0.5))
PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def path_model(*, directed=False):
    adjacency = read_adjacency(np.triu(PATH) if directed else PATH, directed=directed)
    return Model.build(Graph(adjacency, np.eye(3), ids=["a", "b", "c"]), METHOD, n_threads=1)


def everything(model):
    """New features for all nodes."""
    return model.ids.tolist(), np.random.default_rng(0).normal(size=(model.n_nodes, 10))


def test_a_loaded_model_has_room_for_nodes_without_edges(tmp_path):
    path_model().save(tmp_path / "model")
    model = Model.load(tmp_path / "model", n_threads=1)
    model.update(features=(["z"], [[1, 2, 3]]))
    np.testing.assert_allclose(model.matrix[3], [1, 2, 3], rtol=1e-6)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(Model.load(tmp_path / "model").matrix, model.matrix)


def test_a_loaded_directed_model_has_room_for_nodes_that_are_only_read(tmp_path):
    path_model(directed=True).save(tmp_path / "model")
    model = Model.load(tmp_path / "model", n_threads=1)
    model.update(edges=(["a"], ["z"]), features=(["z"], [[1, 2, 3]]), tolerance=0.0)
    assert np.isfinite(model.matrix).all()
    assert_equal_to_full(model)


@pytest.mark.parametrize("how", ["append", "large", "full"])
def test_what_another_program_saved_is_never_replaced(tmp_path, monkeypatch, how):
    folder = tmp_path / "model"
    model_of(0, METHOD).save(folder)
    first, second = (Model.load(folder, n_threads=1) for _ in range(2))
    first.update(edges=(["n1"], ["first"]), missing="zeros")
    first.save(folder)
    if how == "large":
        monkeypatch.setattr("nafs.model.storage._SHARE", 0.0)
        second._place.n_changes = 1  # so that a new base is due
        first.update(edges=(["n2"], ["again"]), missing="zeros")
        first.save(folder)
    if how == "full":
        monkeypatch.setattr("nafs.model.updating.full_time", lambda *_: 0.0)
    report = second.update(features=everything(second))
    assert report.full == (how == "full")
    for force in (False, True):
        with pytest.raises(InputError, match="another program"):
            second.save(folder, force=force)
    assert "first" in Model.load(folder).ids.tolist()


def test_a_full_run_is_saved_where_the_model_came_from(tmp_path, monkeypatch):
    model_of(0, METHOD).save(tmp_path / "model")
    model = Model.load(tmp_path / "model", n_threads=1)
    monkeypatch.setattr("nafs.model.updating.full_time", lambda *_: 0.0)
    assert model.update(features=everything(model)).full
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(Model.load(tmp_path / "model").matrix, model.matrix)


def test_an_error_while_states_are_written_is_taken_back(monkeypatch):
    model = model_of(1, METHOD)
    before = model.matrix.copy()
    apply = Spreading.apply

    def fail(self, result, change, kept, *arguments, **options):
        kept.embedding[:5] = 7
        raise MemoryError

    monkeypatch.setattr(Spreading, "apply", fail)
    with pytest.raises(MemoryError):
        model.update(edges=(["n1"], ["new"]), features=(["n3"], np.ones((1, 10))), missing="zeros")
    monkeypatch.setattr(Spreading, "apply", apply)
    np.testing.assert_allclose(model.matrix, before, atol=1e-6)
    assert "new" not in model.ids.tolist()
    model.update(edges=(["n1"], ["new"]), tolerance=0.0, missing="zeros")
    assert_equal_to_full(model)


def test_a_model_that_cannot_be_taken_back_says_so(tmp_path, monkeypatch):
    model = model_of(1, METHOD)

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(Spreading, "apply", fail)
    monkeypatch.setattr(model._store, "full_run", fail)
    with pytest.raises(MemoryError):
        model.update(edges=(["n1"], ["new"]), missing="zeros")
    for call in (lambda: model.matrix, model.update, lambda: model.save(tmp_path / "model")):
        with pytest.raises(InputError, match="failed half-way"):
            call()


def test_an_update_is_done_even_if_its_settings_cannot_be_checked(monkeypatch):
    model = model_of(1, METHOD)

    def fail(*_):
        raise ValueError("no clusters")

    monkeypatch.setattr(model._drift, "note", fail)
    report = model.update(edges=(["n1"], ["new"]), missing="zeros")
    assert "no clusters" in report.notes[-1]
    assert "new" in model.ids.tolist()


@pytest.mark.parametrize("full", [False, True])
def test_leftovers_of_a_killed_run_are_removed(tmp_path, monkeypatch, full):
    folder = tmp_path / "model"
    model_of(0, METHOD).save(folder)
    (folder / ".changes-abc.part").mkdir()
    (folder / ".changes-abc.part" / "rows.npy").write_bytes(b"")
    model = Model.load(folder, n_threads=1)
    if full:
        monkeypatch.setattr("nafs.model.updating.full_time", lambda *_: 0.0)
    model.update(edges=(["n1"], ["new"]), missing="zeros")
    model.save(folder)
    assert not list(folder.glob(".changes-*"))
    assert "new" in Model.load(folder).ids.tolist()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lists_indices", 2_000_000_000),
        ("lists_indices", -1),
        ("lists_counts", -1),
        ("lists_counts", 10**12),
        ("lists_rows", 1000),
        ("lists_weights", 0),
        ("lists_weights", np.nan),
        ("rows", -1),
        ("scale", 0),
        ("states", np.inf),
    ],
)
def test_damaged_journals_are_named(tmp_path, name, value):
    folder = tmp_path / "model"
    model = model_of(0, METHOD)
    model.save(folder)
    model.update(edges=(["n1", "n2"], ["new", "n9"]), missing="zeros")
    model.save(folder)
    path = folder / "changes-000001" / f"{name}.npy"
    array = np.load(path)
    array[0] = value
    np.save(path, array)
    seal(path.parent)  # or only the checksum would be noticed
    with pytest.raises(InputError, match=f"is damaged.*{name}"):
        Model.load(folder)


@pytest.mark.parametrize(("name", "dtype"), [("alive", np.int8), ("lists_indices", np.float32)])
def test_journals_of_other_types_are_named(tmp_path, name, dtype):
    folder = tmp_path / "model"
    model = model_of(0, METHOD)
    model.save(folder)
    model.update(edges=(["n1"], ["new"]), missing="zeros")
    model.save(folder)
    path = folder / "changes-000001" / f"{name}.npy"
    np.save(path, np.load(path).astype(dtype))
    seal(path.parent)
    with pytest.raises(InputError, match=f"is damaged.*{name}"):
        Model.load(folder)


def test_arrays_are_written_with_their_spare_rows(tmp_path):
    array = np.arange(24.0, dtype=np.float32).reshape(6, 4)
    save_npy(tmp_path / "x.npy", array, 4)
    again = load_npy(tmp_path / "x.npy")
    np.testing.assert_array_equal(again[:4], array[:4])
    assert not again[4:].any()
    with pytest.raises(OSError, match="No space"):
        save_npy(Path("/dev/full"), array, 4)


def test_a_model_that_cannot_grow_stays_as_it_was(monkeypatch):
    model = model_of(0, METHOD, directed=True)
    before = model.matrix.copy()

    def fail(*_):
        raise MemoryError

    many = [f"x{i}" for i in range(100)]
    monkeypatch.setattr("nafs.model.states.Kept.grown", fail)
    with pytest.raises(MemoryError):
        model.update(edges=(["n1"] * 100, many), missing="zeros")
    monkeypatch.undo()
    np.testing.assert_array_equal(model.matrix, before)
    model.update(edges=(["n1"] * 70, many[:70]), tolerance=0.0, missing="zeros")
    assert_equal_to_full(model)


def test_a_base_that_changes_while_another_is_written_stays(tmp_path, monkeypatch):
    folder = tmp_path / "model"
    model_of(0, METHOD).save(folder)
    first, second = (Model.load(folder, n_threads=1) for _ in range(2))
    first.update(edges=(["n1"], ["first"]), missing="zeros")
    monkeypatch.setattr("nafs.model.updating.full_time", lambda *_: 0.0)
    assert second.update(edges=(["n1"], ["second"]), missing="zeros").full
    write = storage.save_npy

    def meanwhile(*arguments):
        monkeypatch.setattr(storage, "save_npy", write)
        first.save(folder)
        write(*arguments)

    monkeypatch.setattr(storage, "save_npy", meanwhile)
    with pytest.raises(InputError, match="another program"):
        second.save(folder)
    assert "first" in Model.load(folder).ids.tolist()


def test_a_model_without_hops_is_saved(tmp_path):
    model = model_of(0, Method(0, (0.5,)))
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(Model.load(tmp_path / "model").matrix, model.matrix)
