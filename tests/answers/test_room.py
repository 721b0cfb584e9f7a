"""Memory that predicting classes takes, and what a limit leaves room for."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from nafs import Graph
from nafs._support.errors import MemoryLimitError
from nafs.answers import classify, room
from nafs.answers.sources import blocks_of, classes_nbytes

MB = 10**6


@pytest.fixture
def graph():
    rng = np.random.default_rng(0)
    labels = [f"class {code}" for code in rng.permutation(np.arange(3000) % 500)]
    ring = np.roll(np.eye(3000, dtype=np.float32), 1, axis=1)
    return Graph(ring + ring.T, rng.random((3000, 20), np.float32), labels=labels)


def test_too_many_classes_for_the_limit_are_refused_before_any_work(graph, monkeypatch):
    needed = 70 * MB + classes_nbytes(3000, 3000, 500, 20)
    with_vectors = needed + 4 * 3000 * 20
    room.check_room(graph, "auto", None, True)
    monkeypatch.setattr(room, "left_now", lambda limit: limit - 100 * MB)
    room.check_room(graph, "full", with_vectors + 100 * MB, False)
    with pytest.raises(MemoryLimitError, match="predicting 500 classes of 3,000 nodes takes"):
        room.check_room(graph, "full", with_vectors + 100 * MB - 1, False)
    with pytest.raises(MemoryLimitError, match="raise it"):
        room.check_room(graph, 20, with_vectors + 100 * MB, True)


def test_optional_sources_are_left_out_where_they_do_not_fit(graph, monkeypatch):
    needed = 70 * MB + classes_nbytes(3000, 3000, 500, 20)
    monkeypatch.setattr(room, "left_now", lambda limit: limit)
    assert room.what_fits(graph, 20, needed) == (False, False)
    assert room.what_fits(graph, 20, 10 * needed) == (True, True)
    assert room.what_fits(graph, 20, None) == (True, True)


def test_blocks_are_smaller_where_there_are_many_classes():
    matrix = np.empty((100_000, 2), np.float32)
    few, many = blocks_of(matrix), blocks_of(matrix, n_classes=500)
    assert len(few) == 1
    assert len(many) > 50
    assert (many[0].start, many[-1].stop) == (0, 100_000)
    assert all(first.stop == second.start for first, second in pairwise(many))


def test_few_labels_of_many_classes_give_no_warning_of_scikit_learn():
    rng = np.random.default_rng(1)
    classes = np.arange(200) % 40
    vectors = rng.standard_normal((40, 8))[classes] + 0.1 * rng.standard_normal((200, 8))
    labels = {node: f"class {classes[node]}" for node in range(60)}  # warnings are errors in tests
    answer = classify(vectors.astype(np.float32), pa.array(range(200)), labels)
    assert len(answer.classes) == 40
