"""The figures of the performance pages are those of the benchmarks' JSON."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tools")]

import performance  # noqa: E402
import readme_table  # noqa: E402
import record  # noqa: E402

from nafs.reproduce.marked import fill  # noqa: E402


def line(benchmark, name, date, ratio=1.0, *, met=True):
    stamp = {"benchmark": benchmark, "date": date, "commit": "abc", "machine": "a computer"}
    return {**stamp, "name": name, "ratio": ratio, "bound": "<= 2", "met": met, "detail": "one 1 s"}


def test_pages_show_what_was_measured():
    for path, text in performance.pages(record.read_lines(performance.LINES)).items():
        assert path.read_text(encoding="utf-8") == text, (
            f"run python tools/performance.py to update {path.name}"
        )


def test_the_readme_shows_what_was_measured():
    assert readme_table.readme() == readme_table.README.read_text(encoding="utf-8"), (
        "run python tools/readme_table.py"
    )


def test_a_new_run_replaces_all_lines_of_its_benchmark():
    old = [line("hop", "a", "2026-01-01 10:00"), line("hop", "renamed", "2026-01-01 10:00")]
    new = [line("hop", "a", "2026-01-02 10:00", 3.0), line("disk", "b", "2026-01-02 10:00")]
    merged = record.merge(old, new)
    assert [(entry["benchmark"], entry["name"], entry["ratio"]) for entry in merged] == [
        ("hop", "a", 3.0),
        ("disk", "b", 1.0),
    ]
    assert record.merge(new, old) == merged, "older lines do not come back"


def test_a_missed_bound_is_shown_as_such():
    rows = performance.table([line("hop", "a", "2026-01-01 10:00", 2.5, met=False)])
    assert rows[2] == "| **2.50** (missed) | ≤ 2 | a | one 1 s |"
    assert "commit abc; a computer" in rows[-1]


def test_only_marked_tables_are_written():
    page = "before\n<!-- hop -->\nold\n<!-- /hop -->\nafter\n"
    assert fill(page, {"hop": ["new"], "disk": ["none"], "gone": []}) == (
        "before\n<!-- hop -->\n\nnew\n\n<!-- /hop -->\nafter\n"
    )


def test_results_are_written_with_machine_and_commit(tmp_path):
    from common import Result

    lines = record.lines_of("hop", [Result.at_most("a", 1.0, 2.0, "detail")])
    record.write_lines(tmp_path / "sub" / "latest.json", lines)
    (read,) = record.read_lines(tmp_path / "sub" / "latest.json")
    assert read == lines[0]
    assert read["machine"]
    assert read["commit"]
