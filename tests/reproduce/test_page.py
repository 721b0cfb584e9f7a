"""The page of results is made from cells; its prose stays."""

import json

from nafs.reproduce import quality
from nafs.reproduce.comparison import LINKS
from nafs.reproduce.page import update_page
from nafs.reproduce.quality_page import update_page as update_quality_page
from nafs.reproduce.store import CELLS, Store

PAGE = (
    "# Title\n\n<!-- links -->\nold\n<!-- /links -->\n\nprose\n\n<!-- missing -->\n<!-- /missing -->\nend\n"
)


def test_tables_are_made_from_cells(tmp_path):
    store = Store(tmp_path, "reproduction.json")
    for seed in range(2):
        values = {"AUC": [0.9 + seed / 100], "AP": [0.8], "seconds": [3.0], "cpu": [2.0], "bytes": [5e6]}
        store.keep(LINKS.key("cora", "GAE", seed), values)
    earlier = {"links": {"SGC": {"cora": "92.8 / 93.3 ± 0.8 / 0.9"}}}
    text = update_page(PAGE, store, earlier)
    assert text.startswith("# Title\n")
    assert "\nprose\n" in text
    assert text.endswith("end\n")
    assert "old" not in text
    rows = {line.split(" | ")[0].strip("| "): line for line in text.splitlines() if line.startswith("| ")}
    assert "| 91.0 / 92.0 | 90.5 / 80.0 ± 0.5 / 0.0 (2) |" in rows["GAE"]
    assert rows["GAE"].endswith("| 2 s | 5 MB |")
    assert "92.8 / 93.3 ± 0.8 / 0.9 †" in rows["SGC"]
    assert "95.1 / 94.6" in rows["AGE"], "a published number without a measured one stays"
    assert "fewer than 10 seeds: GAE (2)" in text
    assert update_page(text, store, earlier) == text


def test_cells_of_another_folder_are_taken_over(tmp_path):
    one, other = Store(tmp_path / "a"), Store(tmp_path / "b")
    one.keep("x", {"v": [1.0]}, "s")
    other.keep("x", {"v": [2.0]}, "t")
    other.keep("y", {"v": [3.0]}, "t")
    one.take_over(other)
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
    store.keep(quality.number_key("wiki"), {"classes": [17.0], "chosen": [4.0], "agreement": [0.5]})
    names = ("clustering", "links", "classification", "numbers", "halves", "clustering-steps")
    page = "".join(f"<!-- {name} -->\nold\n<!-- /{name} -->\n" for name in names)
    text = update_quality_page(page, store)
    assert "old" not in text
    assert "| cora | 76 / 61 / 55 | 60.0 / 60.0 / 60.0 | 0.0 / 0.0 / 0.0 | 1 |" in text
    assert "| wiki | 17 | 4 | no | 0.50 |" in text
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
