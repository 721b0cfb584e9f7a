"""Check the internal links of the built site: python tools/check_links.py docs/_build/html.

Sphinx checks references; this script also checks pictures, downloads, anchors, the navigation, and the links
of examples and docstrings. Links to other sites are not checked.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the links and the anchor of a tag."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def broken_links(site: Path) -> list[str]:
    """Every broken internal link of the site, as "page: link"."""
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html") if "_static" not in path.parts}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            missing = not target.exists()
            if missing or (anchor and target in pages and anchor not in pages[target].anchors):
                broken.append(f"{path.relative_to(site.resolve())}: {link}")
    return broken


if __name__ == "__main__":
    site = Path(sys.argv[1])
    broken = broken_links(site)
    print("\n".join(broken) or f"{site}: no broken internal links")
    sys.exit(bool(broken))
