"""Generate the tables of docs/reproduction.md from docs/data/reproduction.json.

python tools/reproduction.py            generate the tables from the stored cells
python tools/reproduction.py FOLDER     first add the cells that `nafs reproduce -o FOLDER` measured
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from nafs.reproduce.page import update_page
from nafs.reproduce.store import CELLS, Store

DOCS = Path(__file__).resolve().parent.parent / "docs"


def main() -> None:
    """Add new cells, and write the page."""
    store = Store(DOCS / "data", "reproduction.json")
    for folder in sys.argv[1:]:
        store.take_over(Store(Path(folder), CELLS))
    page = DOCS / "reproduction.md"
    earlier = json.loads((DOCS / "data" / "earlier.json").read_text(encoding="utf-8"))
    page.write_text(update_page(page.read_text(encoding="utf-8"), store, earlier), encoding="utf-8")


if __name__ == "__main__":
    main()
