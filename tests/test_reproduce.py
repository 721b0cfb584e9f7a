"""The paper's tables: measured once, kept, and set beside the published numbers."""

import json
import os
from dataclasses import replace

import pytest
from command import run

from nafs.datasets import Dataset, contextual_sbm
from nafs.reproduce import published, tables
from nafs.reproduce.rivals import RIVALS, raw, ssgc
from nafs.reproduce.store import Store, show
from nafs.tasks import TaskResult, random_splits


@pytest.fixture
def small(monkeypatch):
    """The targets on one small random graph in the place of Cora."""
    graph = contextual_sbm(200, n_classes=3, n_features=20, signal=2.0, seed=0)
    data = Dataset("cora", "a stand-in", graph, random_splits(graph, count=1)[0])
    monkeypatch.setattr(tables, "load_dataset", lambda _: data)
    return {name: replace(target, datasets=("cora",)) for name, target in tables.TARGETS.items()}


@pytest.mark.parametrize("name", tables.TARGETS)
def test_a_table_has_every_method_and_the_published_numbers(small, tmp_path, name):
    target, told = small[name], []
    files = tables.reproduce(target, tmp_path, seeds=2, told=told.append)
    assert [file.name for file in files] == [f"{name}.md", f"{name}.csv"]
    text = files[0].read_text()
    for method in (*RIVALS, "NAFS-mean", "NAFS-max", "NAFS-concat", *target.others):
        assert method in text
    for number in target.numbers["concat"]["cora"]:
        assert f"{number:.1f}" in text
    lines = files[1].read_text().splitlines()
    assert len(lines) == 1 + len(target.metrics) * (len(RIVALS) + 3 + len(target.others))
    assert len(told) == len(RIVALS) + 6


def test_a_broken_run_goes_on_where_it_was(small, tmp_path):
    target, measured = small["links"], []

    def breaking(*arguments):
        measured.append(1)
        if len(measured) == 4:
            raise KeyboardInterrupt
        return target.measure(*arguments)

    with pytest.raises(KeyboardInterrupt):
        tables.reproduce(replace(target, measure=breaking), tmp_path, seeds=1)
    assert os.listdir(tmp_path) == ["cells.json"]
    assert len(json.loads((tmp_path / "cells.json").read_text())) == 3
    tables.reproduce(replace(target, measure=breaking), tmp_path, seeds=1)
    assert len(measured) == 4 + len(RIVALS) + 6 - 3
    first = (tmp_path / "links.md").read_text()
    tables.reproduce(replace(target, measure=breaking), tmp_path, seeds=1)
    assert len(measured) == 4 + len(RIVALS) + 6 - 3, "nothing is measured twice"
    assert (tmp_path / "links.md").read_text() == first
    (tmp_path / "cells.json").write_text("{")
    with pytest.raises(ValueError, match=r"cells\.json is damaged"):
        Store(tmp_path)


def test_a_number_out_of_reach_is_marked(small, tmp_path):
    target = small["classification"]
    high = {variant: {"cora": (101.0,)} for variant in published.VARIANTS}
    low = {variant: {"cora": (10.0,)} for variant in published.VARIANTS}
    marked = tables.reproduce(replace(target, numbers=high), tmp_path / "a")[1].read_text()
    assert sum(line.split(",")[-2].endswith("!") for line in marked.splitlines()) == 3
    fine = tables.reproduce(replace(target, numbers=low), tmp_path / "b")[1].read_text()
    assert "!" not in fine


def test_every_number_has_its_place():
    for numbers, hops, names, count in (
        (published.LINKS, published.LINK_HOPS, published.CITATIONS, 2),
        (published.CLUSTERS, published.CLUSTER_HOPS, published.CLUSTERED, 3),
        (published.CLASSES, published.CLUSTER_HOPS, published.CITATIONS, 1),
    ):
        for variant in published.VARIANTS:
            assert set(numbers[variant]) == set(names)
            assert set(names) <= set(hops[variant])
            assert all(len(values) == count for values in numbers[variant].values())


def test_ssgc_is_its_formula():
    import numpy as np

    graph = contextual_sbm(50, n_features=4, seed=1)
    A = graph.adjacency.to_scipy().toarray() + np.eye(50)
    S = A / np.sqrt(np.outer(A.sum(1), A.sum(1)))
    X = graph.features.dense.astype(float)
    hops = [np.linalg.matrix_power(S, k) @ X for k in range(1, 17)]
    np.testing.assert_allclose(ssgc(graph), 0.95 * np.mean(hops, axis=0) + 0.05 * X, atol=1e-5)
    np.testing.assert_array_equal(raw(graph), graph.features.dense)


def test_numbers_are_shown_in_percent():
    assert show(TaskResult("t", {"m": [0.5]}), "m") == "50.0"
    assert show(TaskResult("t", {"m": [0.5, 0.6]}), "m") == "55.0 ± 5.0"


def test_the_command(small, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tables, "TARGETS", small)
    for words, code in (
        (("links", "--seeds", "1", "-o", str(tmp_path / "out")), 0),
        (("dancing",), 2),
        (("links", "--seeds", "0"), 2),
    ):
        assert run("reproduce", *words) == code
    assert "unknown target 'dancing'" in capsys.readouterr().err
    assert (tmp_path / "out" / "links.md").exists()
