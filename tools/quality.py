"""Generate the tables of docs/quality.md and docs/choices.md from docs/data/quality.json.

python tools/quality.py            generate the tables from the stored cells
python tools/quality.py FOLDER     first add the cells that `nafs reproduce quality -o FOLDER` measured
"""

from __future__ import annotations

import sys
from pathlib import Path

from nafs.reproduce.quality_page import update_page
from nafs.reproduce.store import CELLS, Store

DOCS = Path(__file__).resolve().parent.parent / "docs"


def main() -> None:
    """Add new cells, and write the pages."""
    store = Store(DOCS / "data", "quality.json")
    for folder in sys.argv[1:]:
        store.take_over(Store(Path(folder), CELLS))
    for page in (DOCS / "quality.md", DOCS / "choices.md"):
        page.write_text(update_page(page.read_text(encoding="utf-8"), store), encoding="utf-8")


if __name__ == "__main__":
    main()
