"""Every promise on the page about reliability names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_promise_names_tests_that_exist():
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    rows = [line for line in page.partition("## Not promised")[0].splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    for row in rows:
        held = re.findall(r"\]\(\.\./(\S+\.py)\)((?: `test_\w+`)+)", row)
        assert held, row
        for path, names in held:
            source = (ROOT / path).read_text(encoding="utf-8")
            for name in re.findall(r"test_\w+", names):
                assert f"def {name}(" in source, f"{path} has no {name}"
