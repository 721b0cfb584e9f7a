"""The page of results is made from cells; its prose stays."""

import json
from pathlib import Path

import pytest

from nafs.reproduce import efficiency, quality, quality_noise, scalability
from nafs.reproduce.comparison import LINKS
from nafs.reproduce.page import update_page
from nafs.reproduce.quality_page import update_page as update_quality_page
from nafs.reproduce.store import CELLS, Store
from nafs.rivals import RIVALS

PAGE = (
    "# Title\n\n<!-- links -->\nold\n<!-- /links -->\n\nprose\n\n<!-- missing -->\n<!-- /missing -->\nend\n"
)


def test_tables_are_made_from_cells(tmp_path):
    store = Store(tmp_path, "reproduction.json")
    for seed in range(2):
        values = {
            "AUC": [0.9 + seed / 100],
            "AP": [0.8],
            "seconds": [9.0 - 6.0 * seed],
            "cpu": [2.5],
            "bytes": [5e6],
        }
        store.keep(LINKS.key("cora", "GAE", seed), values)
    earlier = {"links": {"SGC": {"cora": "92.8 / 93.3 ± 0.8 / 0.9"}}}
    text = update_page(PAGE, store, earlier)
    assert text.startswith("# Title\n")
    assert "\nprose\n" in text
    assert text.endswith("end\n")
    assert "old" not in text
    rows = {line.split(" | ")[0].strip("| "): line for line in text.splitlines() if line.startswith("| ")}
    assert "| 91.0 / 92.0 | 90.5 / 80.0 ± 0.5 / 0.0 (2) |" in rows["GAE"]
    assert rows["GAE"].endswith("| 3.0 s | 2.5 s | 5 MB |")
    assert "92.8 / 93.3 ± 0.8 / 0.9 †" in rows["SGC"]
    assert "95.1 / 94.6" in rows["AGE"], "a published number without a measured one stays"
    (state,) = [line for line in text.splitlines() if line.startswith("- links, cora:")]
    assert "fewer than 10 seeds: GAE (2)" in state
    assert "earlier run only: SGC" in state
    assert "not measured: raw features, " in state
    assert update_page(text, store, earlier) == text


def test_a_fit_of_hours_has_two_seeds():
    assert len(LINKS.keys("pubmed", RIVALS["AGE"], 10)) == 2
    assert len(LINKS.keys("cora", RIVALS["AGE"], 10)) == 10


def test_cells_of_another_folder_are_taken_over(tmp_path):
    first, other = Store(tmp_path / "a"), Store(tmp_path / "b")
    first.keep("x", {"v": [1.0]}, "s")
    other.keep("x", {"v": [2.0]}, "t")
    other.keep("y", {"v": [3.0]}, "t")
    first.take_over(other)
    again = Store(tmp_path / "a")
    assert again["x"] == {"v": [2.0]}
    assert again.has("y", "t")
    assert not again.has("x", "s")
    assert again.together(["x", "y", "z"]) == {"v": [2.0, 3.0]}
    assert again.together(["z"]) is None


def test_the_quality_page_is_generated_from_cells(tmp_path):
    cells = {
        cell.key: {"source": "", "values": {key: [0.6 if step.is_auto else 0.5] for key in task.metrics}}
        for task in quality.TASKS
        for name in task.datasets
        for step in task.steps
        for cell in task.cells(name, step, 10)
    }
    (tmp_path / CELLS).write_text(json.dumps(cells))
    store = Store(tmp_path)
    number = {"classes": [17.0], "chosen": [4.0], "agreement": [0.5], "by chance": [0.2], "doubtful": [0.0]}
    store.keep(quality.number_key("wiki"), number)
    store.keep(
        quality_noise.cells()[0].key,
        {"agreement": [0.1, 0.3], "by chance": [0.2, 0.4], "doubtful": [1.0, 0.0]},
    )
    names = ("noise", "clustering", "links", "classification", "numbers", "halves", "clustering-steps")
    page = "".join(f"<!-- {name} -->\nold\n<!-- /{name} -->\n" for name in names)
    text = update_quality_page(page, store)
    assert "old" not in text
    assert "| cora | 76 / 61 / 55 | 60.0 / 60.0 / 60.0 | 0.0 / 0.0 / 0.0 | 1 |" in text
    assert "| wiki | 17 | 4 | no | 0.50 | 0.20 | no |" in text
    assert "16 features | 0.10 to 0.30 | 0.20 to 0.40 | 1 of 2 |" in text
    assert "| best by half 1 | + consensus over hops: auto | 60.0 | 60.0 |" in text
    assert update_quality_page(text, store) == text


def test_the_quality_page_shows_no_mean_while_a_data_set_is_missing(tmp_path):
    store = Store(tmp_path)
    clustering = quality.TASKS[0]
    (step,) = (step for step in clustering.steps if step.is_auto)
    for cell in clustering.cells("cora", step, 10):
        store.keep(cell.key, {"ACC": [0.5, 0.7], "NMI": [0.5, 0.5], "ARI": [0.5, 0.5]})
    text = update_quality_page("<!-- clustering-steps -->\n<!-- /clustering-steps -->\n", store)
    line = next(line for line in text.splitlines() if ": auto" in line)
    assert line.split("|")[2].strip() == "53.3"
    assert line.endswith("|  |  |  |")


def test_the_quality_page_names_the_aims_that_are_missed(tmp_path):
    store = Store(tmp_path)
    classification = quality.TASKS[2]
    (step,) = (step for step in classification.steps if step.is_auto)
    for name, accuracy in (("cora", 0.8436), ("citeseer", 0.7), ("pubmed", 0.9)):
        for cell in classification.cells(name, step, 10):
            store.keep(cell.key, {"ACC": [accuracy]})
    marks = "<!-- classification-missed -->\n<!-- /classification-missed -->\n"
    text = update_quality_page(marks, store)
    assert "Rounded like the aims, 1 of 3 are missed: citeseer ACC 70.00 (73.5)" in text
    assert "to a hundredth, 2 of 3 are missed: cora ACC 84.36 (84.4), citeseer ACC 70.00 (73.5)." in text
    assert "aims" not in update_quality_page(marks, Store(tmp_path / "empty")).replace("missed", "")


def test_a_wall_time_of_a_busy_machine_is_not_shown(tmp_path):
    store = Store(tmp_path, "reproduction.json")
    values = {"AUC": [0.9], "AP": [0.8], "seconds": [300.0], "cpu": [6.0], "bytes": [5e6]}
    store.keep(LINKS.key("cora", "GAE", 0), values)
    assert "| 90.0 / 80.0 (1) |" in (text := update_page(PAGE, store, {}))
    assert "|  | 6.0 s | 5 MB |" in text


def test_times_are_shown_and_the_missing_ones_named(tmp_path):
    store = Store(tmp_path, "reproduction.json")
    store.keep(efficiency.key("pubmed", "GAE"), {"seconds": [30.0], "NAFS-mean": [2.0, 4.0]})
    store.keep(scalability.sample_key("AGE", 50_000), {"needs": [40e9], "edges": [24387.0]})
    names = ("efficiency", "scalability", "random-graphs", "missing")
    page = "".join(f"<!-- {name} -->\nold {name}\n<!-- /{name} -->\n" for name in names)
    sizes = ("10,000", "20,000", "30,000", "50,000", "100,000")
    earlier = {"scalability": {"NAFS-mean, here": dict.fromkeys(sizes, "0.5 s")}}
    text = update_page(page, store, earlier)
    assert "| pubmed | GAE | 30.0 s | 10 (published: 65.4) |" in text
    assert "| AGE, here |  |  |  | out of memory (needs 40 GB) |  |" in text
    assert "| NAFS-mean, here | 0.5 s † | 0.5 s † |" in text
    assert "| edges in the sample |  |  |  | 24,387 |  |" in text
    assert "old random-graphs" in text, "a table without measured cells stays as it is"
    (state,) = [line for line in text.splitlines() if line.startswith("- efficiency:")]
    assert "GAE (cora; citeseer)" in state


def test_the_page_in_the_repository_is_the_one_that_the_command_writes():
    docs = Path(__file__).parents[2] / "docs"
    if not docs.is_dir():
        pytest.skip("the documentation is not here")
    text = (docs / "reproduction.md").read_text(encoding="utf-8")
    earlier = json.loads((docs / "data" / "earlier.json").read_text(encoding="utf-8"))
    assert update_page(text, Store(docs / "data", "reproduction.json"), earlier) == text
