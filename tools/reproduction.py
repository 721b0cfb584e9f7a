"""Write the tables and figures of docs/reproduction.md and the README's from docs/data/reproduction.json.

python tools/reproduction.py            generate them from the stored cells
python tools/reproduction.py FOLDER     first add the cells that `nafs reproduce -o FOLDER` measured
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import readme_table

from nafs.reproduce import efficiency, scalability
from nafs.reproduce.page import update_page
from nafs.reproduce.run import TARGETS
from nafs.reproduce.store import CELLS, Store
from nafs.reproduce.target import Effort

DOCS = Path(__file__).resolve().parent.parent / "docs"


def main() -> None:
    """Add new cells, write the page and its figures, and count the cells that are out of date."""
    store = Store(DOCS / "data", "reproduction.json")
    for folder in sys.argv[1:]:
        store.take_over(Store(Path(folder), CELLS))
    page = DOCS / "reproduction.md"
    earlier = json.loads((DOCS / "data" / "earlier.json").read_text(encoding="utf-8"))
    page.write_text(update_page(page.read_text(encoding="utf-8"), store, earlier), encoding="utf-8")
    readme_table.main()
    figures = Store(DOCS / "figures")
    if efficiency.key("pubmed", efficiency.OURS) in store:
        figures.figure(efficiency.NAME, efficiency.draw(store))
    if scalability.random_key(efficiency.OURS, max(scalability.RANDOM_NODES)) in store:
        figures.figure("random-graphs", scalability.draw_random(store))
    cells = [cell for target in TARGETS.values() for cell in target.cells(Effort(rivals="all"))]
    kept = [cell for cell in {cell.key: cell for cell in cells}.values() if cell.key in store]
    old = [cell.key for cell in kept if not store.has(cell.key, cell.source)]
    print(f"{len(kept)} cells, {len(old)} of them measured before their source changed")


if __name__ == "__main__":
    main()
