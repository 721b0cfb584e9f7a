"""Models whose saving is killed, and programs that save at once: the old or the new model, nothing else."""

import os
import threading

import numpy as np
import pytest
from killed_models import KilledModels, content, die_at
from models import model_of

from nafs import Graph
from nafs._support import atomic
from nafs._support.errors import InputError
from nafs.model import Model, storage
from nafs.smoothing import Method

METHOD = Method(2, (0.0, 0.5))


def changed(folder, **change):
    """Load a model and change it; it is not saved yet."""
    model = Model.load(folder, n_threads=1)
    model.update(**change, missing="zeros")
    return model


@pytest.mark.parametrize("how", ["new", "replaced", "appended", "full run", "without exchange"])
def test_a_model_is_the_old_or_the_new_one_whenever_saving_dies(tmp_path, monkeypatch, how):
    folder = tmp_path / "model"
    if how == "without exchange":
        monkeypatch.setattr(atomic, "exchange", lambda *_: False)
    expected = []
    if how != "new":
        model_of(0, METHOD).save(folder)
        expected = [content(folder)]
    if how == "full run":
        monkeypatch.setattr("nafs.model.updating.full_time", lambda *_: 0.0)
    if how in ("new", "replaced", "without exchange"):
        model = model_of(1, METHOD)
    else:
        model = changed(folder, edges=(["n1"], ["new"]))

    def save():
        model.save(folder, force=True)

    step, lived, whole = 0, False, []
    while not lived:
        step += 1
        lived = die_at(step, tmp_path, save)
        if how != "new" or folder.exists():
            whole.append(content(folder))
            if expected and whole[-1] != expected[0] and not lived:
                break  # it is saved; what is left is to tidy up
    assert step > 10
    new = model.ids.tolist(), np.ascontiguousarray(model.matrix).tobytes()
    assert whole[-1] == new
    assert all(saved in [*expected, new] for saved in whole)
    model_of(2, METHOD).save(folder, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_graph_that_was_being_replaced_is_brought_back(tmp_path, monkeypatch):
    graph = Graph(np.ones((3, 3)), ids=["a", "b", "c"])
    graph.save(tmp_path / "graph")
    (tmp_path / ".graph.abcdefgh.old").mkdir()
    os.rename(tmp_path / "graph", tmp_path / ".graph.abcdefgh.old" / "graph")
    assert Graph.load(tmp_path / "graph").ids.tolist() == ["a", "b", "c"]
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]


def test_folders_that_a_living_program_writes_are_left_alone(tmp_path):
    graph = Graph(np.ones((3, 3)))
    (tmp_path / ".graph.mine1234.part").mkdir()  # nobody's
    (tmp_path / ".graph.mine1234.part" / "letters.txt").write_text("not ours")
    with atomic.whole_folder(tmp_path / "graph", force=False, contents=["graph.json"]) as part:
        graph.save(tmp_path / "graph")
        assert part.is_dir()
        with pytest.raises(InputError, match="exists already"):
            graph.save(tmp_path / "graph")
        graph.save(tmp_path / "graph", force=True)
        (tmp_path / "graph" / "graph.json").unlink()
        for file in (tmp_path / "graph").iterdir():
            file.unlink()
        (tmp_path / "graph").rmdir()
    assert (tmp_path / ".graph.mine1234.part" / "letters.txt").exists()


def test_a_folder_that_was_created_in_the_meantime_is_left_alone(tmp_path):
    def write():
        with atomic.whole_folder(tmp_path / "out", force=False, contents=["a"]) as part:
            (part / "a").write_text("mine")
            (tmp_path / "out").mkdir()
            (tmp_path / "out" / "a").write_text("theirs")

    with pytest.raises(InputError, match="in the meantime"):
        write()
    assert (tmp_path / "out" / "a").read_text() == "theirs"


def test_no_update_is_lost_between_the_last_check_and_the_swap(tmp_path, monkeypatch):
    folder = tmp_path / "model"
    model_of(0, METHOD).save(folder)
    first = changed(folder, edges=(["n1"], ["first"]))
    monkeypatch.setattr("nafs.model.updating.full_time", lambda *_: 0.0)
    second = changed(folder, edges=(["n1"], ["second"]))
    errors, started = [], []
    check = storage.check_place

    def save_first():
        try:
            first.save(folder)
        except InputError as error:
            errors.append(str(error))

    def then_the_other(place):
        check(place)
        if storage.read_about(folder)["token"] == place.token and len(started) == 1:
            thread = threading.Thread(target=save_first)
            started.append(thread)
            thread.start()  # has to wait until the new base is there
            thread.join(0.3)
            assert thread.is_alive()
        elif not started:
            started.append(None)  # the first check, before anything is written

    monkeypatch.setattr(storage, "check_place", then_the_other)
    second.save(folder)
    started[1].join()
    assert len(errors) == 1
    assert "another program" in errors[0]
    assert "second" in Model.load(folder).ids.tolist()


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    from nafs.datasets import power_law

    folder = tmp_path_factory.mktemp("models")
    power_law(3_000, average_degree=8, n_features=32, seed=1).save(folder / "graph")
    models = KilledModels(folder / "graph", folder)
    yield models
    models.starter.stop()


@pytest.mark.parametrize("seed", range(6))
def test_commands_that_save_models_are_killed(killed, seed):
    assert killed.kill(seed) == ""
