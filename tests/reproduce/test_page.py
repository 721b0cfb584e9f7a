"""The page of results is made from cells; its prose stays."""

from nafs.reproduce.comparison import LINKS
from nafs.reproduce.page import update_page
from nafs.reproduce.store import Store

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
