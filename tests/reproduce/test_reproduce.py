"""The paper's tables and figures: measured once, kept, and set beside the published numbers."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from command import run
from few_rivals import only_rivals

from nafs.datasets import Dataset, contextual_sbm
from nafs.datasets.download import is_present
from nafs.reproduce import (
    ablation,
    arxiv,
    comparison,
    efficiency,
    maps,
    published,
    quality,
    quality_noise,
    scalability,
    smoothing_speed,
    sparsity,
)
from nafs.reproduce.run import TARGETS, reproduce
from nafs.reproduce.store import Store
from nafs.reproduce.target import Cell, Effort, Target
from nafs.rivals import RIVALS
from nafs.tasks import random_splits

SHORT = {
    "AGC": {"most": 2},
    "NDLS": {"most": 10},
    "GAE": {"epochs": 3},
    "AGE": {"epochs": 3},
    "GCN": {"epochs": 3},
}
KEPT = ("raw features", "SVD of the features", "SC", "SGC", "SSGC", "SIGN", *SHORT)
EFFORT = Effort(seeds=2, rivals="fast")


@pytest.fixture(scope="module")
def small(frozen):
    """One small random graph in place of every data set, small scales, and rivals that stop early."""
    graph = contextual_sbm(200, n_classes=3, n_features=20, signal=2.0, seed=0)
    split = random_splits(graph, count=1)[0]
    short = {
        name: replace(rival, settings={**rival.settings, **SHORT.get(name, {})})
        for name, rival in RIVALS.items()
        if name in KEPT
    }
    with pytest.MonkeyPatch.context() as patch, only_rivals(short):
        for module in (comparison, sparsity, arxiv, smoothing_speed, ablation, efficiency, maps):
            patch.setattr(module, "dataset", lambda name: Dataset(name, "a stand-in", graph, split))
        patch.setattr(quality, "data_of", lambda name: Dataset(name, "a stand-in", graph, split))
        patch.setattr(quality, "present", lambda names: list(names[:2]))
        patch.setattr(quality_noise, "GRAPHS", {"a stand-in": lambda _: graph})
        patch.setattr(quality_noise, "NUMBERS", (2,))
        patch.setattr(arxiv, "is_present", lambda _: True)
        patch.setattr(smoothing_speed, "GROUPS", {"degree below 9": (0, 9), "all nodes": (0, np.inf)})
        patch.setattr(maps, "HOPS", (0, 5))
        patch.setattr(scalability, "is_present", lambda _: False)
        patch.setattr(scalability, "RANDOM_NODES", (300, 600))
        patch.setattr(scalability, "RANDOM_P", 0.01)
        patch.setattr(scalability, "NODES", 3000)
        patch.setattr(scalability, "EDGES", 30_000)
        patch.setattr(published, "SAMPLES", (100, 200, 300, 500, 1000))
        yield
    for cached in (quality._search, scalability._whole, scalability._sample, scalability._random):
        cached.cache_clear()


@pytest.fixture(scope="module")
def folder(small, tmp_path_factory):
    """Where all of them are written, one after the other."""
    return tmp_path_factory.mktemp("reproduction")


def rows_of(path):
    with path.open() as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_writes_its_table_and_its_figure(folder, name):
    steps = []
    files = reproduce(TARGETS[name], folder, seeds=2, progress=lambda *step: steps.append(step))
    assert [file.name for file in files[:2]] == [f"{name}.md", f"{name}.csv"]
    text, rows = files[0].read_text(), rows_of(files[1])
    assert len({len(row) for row in rows}) == 1
    assert len(rows) > 1
    assert "nan" not in text
    for file in files[2:]:
        assert file.read_bytes().startswith(b"\x89PNG")
        assert f"![]({file.name})" in text, "the page shows its picture"
    cells = len(TARGETS[name].cells(EFFORT))
    assert [done for _, done, _ in steps] == [*range(cells), cells]


@pytest.mark.parametrize("task", [comparison.LINKS, comparison.CLUSTERING, comparison.CLASSIFICATION])
def test_a_comparison_has_every_method_and_every_published_number(folder, task):
    reproduce(TARGETS[task.name], folder, seeds=2)
    _, *rows = rows_of(folder / f"{task.name}.csv")
    by_row = {(data, method, metric): cells for data, method, metric, *cells in rows}
    assert len(by_row) == len(rows)
    for data in task.datasets:
        for i, metric in enumerate(task.metrics):
            for rival in task.rivals(data, "fast"):
                printed, measured, plain, time, _ = by_row[data, rival, metric]
                numbers = task.others.get(rival)
                assert printed == ("" if numbers is None else f"{numbers[data][i]:.1f}")
                assert float(measured.split()[0]) > 0
                assert plain == ""
                assert time.endswith(" s")
            for variant in published.VARIANTS:
                method = f"NAFS-{variant} (K={task.hops[variant][data]})"
                printed, measured, plain, *_ = by_row[data, method, metric]
                assert printed == f"{task.numbers[variant][data][i]:.1f}"
                assert float(measured.split()[0]) > 0
                assert float(plain.split()[0]) > 0


def test_without_rivals_only_the_method_is_measured(small, tmp_path):
    reproduce(TARGETS["classification"], tmp_path, seeds=1, rivals="none")
    _, *rows = rows_of(tmp_path / "classification.csv")
    measured = {method for _, method, _, _, value, *_ in rows if value}
    assert all(method.startswith("NAFS") for method in measured)
    with pytest.raises(ValueError, match="rivals must be one of"):
        reproduce(TARGETS["classification"], tmp_path, rivals="many")


def test_an_interrupted_run_resumes(small, tmp_path):
    measured = []

    def breaking(cell):
        def measure():
            measured.append(cell.key)
            if len(measured) == 4:
                raise KeyboardInterrupt
            return cell.measure()

        return Cell(cell.key, measure, cell.code)

    links = TARGETS["links"]
    broken = replace(links, cells=lambda effort: [breaking(cell) for cell in links.cells(effort)])
    with pytest.raises(KeyboardInterrupt):
        reproduce(broken, tmp_path, seeds=1)
    (kept,) = tmp_path.iterdir()
    assert kept.name == "cells.json"
    assert list(json.loads(kept.read_text())) == measured[:3]
    reproduce(broken, tmp_path, seeds=1)
    assert len(measured) == 1 + len(links.cells(Effort(1))), "only the broken one is measured again"
    first = (tmp_path / "links.md").read_text()
    reproduce(broken, tmp_path, seeds=1)
    assert len(measured) == 1 + len(links.cells(Effort(1))), "nothing is measured twice"
    assert (tmp_path / "links.md").read_text() == first


def test_cells_of_another_source_are_measured_again(tmp_path):
    counted = Target("t", "t", lambda _: [Cell("a", lambda: {"x": [1.0]})], lambda store, _: store["a"])
    assert reproduce(counted, tmp_path) == {"x": [1.0]}
    path = tmp_path / "cells.json"
    cells = json.loads(path.read_text())
    cells["a"]["values"] = {"x": [2.0]}
    path.write_text(json.dumps(cells))
    assert reproduce(counted, tmp_path) == {"x": [2.0]}, "measured by the same source: kept"
    cells["a"]["source"] = "another"
    path.write_text(json.dumps(cells))
    assert reproduce(counted, tmp_path) == {"x": [1.0]}


def test_two_runs_in_one_folder_keep_each_others_cells(tmp_path):
    first, other = Store(tmp_path), Store(tmp_path)
    first.keep("a", {"x": [1.0]})
    other.keep("b", {"x": [2.0]})
    assert "a" in other
    assert {key for key in ("a", "b") if key in Store(tmp_path)} == {"a", "b"}


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', "\xff", "3"])
def test_a_damaged_store_is_named(tmp_path, text):
    (tmp_path / "cells.json").write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match=r"cells\.json is damaged"):
        Store(tmp_path)


def test_a_value_that_is_no_number_is_refused(tmp_path):
    with pytest.raises(ValueError, match="a: a measured value is not finite"):
        Store(tmp_path).keep("a", {"AUC": [0.5, float("nan")]})
    assert not list(tmp_path.iterdir())


def test_a_number_out_of_reach_is_marked():
    assert comparison.out_of_reach(75.4, [0.659, 0.661])
    assert not comparison.out_of_reach(66.6, [0.659, 0.661])
    values = {"ACC": [0.66], "NMI": [0.52]}
    rows = comparison.rows_of("cora", "m", ("ACC", "NMI"), (75.4, 50.0), values, mark=True)
    assert [row[3:5] for row in rows] == [["75.4", "66.0 !"], ["50.0", "52.0"]]


def test_a_rival_that_does_not_fit_into_memory_says_so(small, tmp_path, monkeypatch):
    monkeypatch.setitem(RIVALS, "SGC", replace(RIVALS["SGC"], memory=lambda _: 10**15))
    reproduce(TARGETS["classification"], tmp_path, seeds=1)
    text = (tmp_path / "classification.md").read_text()
    assert "| cora | SGC | ACC | 81.0 | out of memory (needs 1e+03 TB) |" in text


def test_every_published_number_has_its_place():
    for task in (comparison.LINKS, comparison.CLUSTERING, comparison.CLASSIFICATION):
        for numbers in (task.numbers, task.others):
            for row in numbers.values():
                assert set(row) == set(task.datasets)
                assert all(len(values) == len(task.metrics) for values in row.values())
    for table in (published.WITHOUT_EDGES, published.WITHOUT_FEATURES):
        assert all(len(row) == len(published.REMOVED) for row in table.values())
    assert all(len(row) == len(published.SAMPLES) for row in published.SAMPLE_SECONDS.values())


def test_what_is_taken_away_is_gone():
    graph = contextual_sbm(300, n_features=8, seed=0)
    thin = sparsity.without_edges(graph, 0.4)
    assert thin.n_edges == pytest.approx(0.6 * graph.n_edges, rel=0.1)
    before, after = graph.adjacency.to_scipy(), thin.adjacency.to_scipy()
    assert (after - after.multiply(before)).nnz == 0, "no edge is new"
    bare = sparsity.without_features(graph, 0.4)
    empty = ~bare.features.dense.any(axis=1)
    assert empty.mean() == pytest.approx(0.4, abs=0.1)
    np.testing.assert_array_equal(bare.features.dense[~empty], graph.features.dense[~empty])
    assert sparsity.without_edges(graph, 0.0).n_edges == graph.n_edges


def test_the_plain_program_is_the_method():
    from nafs import embed
    from nafs.reproduce.timing import plain_nafs

    graph = contextual_sbm(100, n_features=8, seed=0)
    np.testing.assert_allclose(plain_nafs(graph, 5), embed(graph, n_hops=5).matrix, atol=1e-5)


def test_without_its_data_set_a_target_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("NAFS_DATA_HOME", str(tmp_path / "empty"))
    monkeypatch.setattr(arxiv, "is_present", is_present)
    files = reproduce(TARGETS["ogbn-arxiv"], tmp_path)
    assert "nafs datasets fetch ogbn-arxiv" in files[0].read_text()


def test_the_command(small, tmp_path, capsys):
    for words, code in (
        (("smoothing-speed", "--seeds", "1", "-o", str(tmp_path / "out")), 0),
        (("list",), 0),
        (("dancing",), 2),
        (("links", "--seeds", "0"), 2),
    ):
        assert run("reproduce", *words) == code
    output = capsys.readouterr()
    assert "unknown target 'dancing'" in output.err
    assert all(name in output.out for name in TARGETS)
    assert (tmp_path / "out" / "smoothing-speed.md").exists()
