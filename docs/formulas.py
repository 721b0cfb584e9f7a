"""Formulas as SVG, drawn by matplotlib: the same in every browser, without scripts, fonts or network."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import Any

from docutils import nodes
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser
from matplotlib.path import Path
from matplotlib.textpath import TextPath

FONT = FontProperties(math_fontfamily="stix", size=100)
EM = 93.0  # units of a formula that make one em of the text around it
LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}


@lru_cache
def drawn(latex: str) -> str:
    """A formula as an SVG element, on the baseline of the text around it; screen readers get the LaTeX."""
    formula = f"${' '.join(latex.split())}$"
    width, height, depth, _, _ = MathTextParser("path").parse(formula, 72, FONT)
    outline = []
    for vertices, code in TextPath((0, 0), formula, prop=FONT).iter_segments(simplify=False):
        if code == Path.CLOSEPOLY:
            outline.append("Z")
            continue
        places = (f"{x:.1f} {height - depth - y:.1f}" for x, y in vertices.reshape(-1, 2))
        outline.append(LETTERS[code] + " ".join(places))
    size = f"width:{width / EM:.3f}em;height:{height / EM:.3f}em;vertical-align:{-depth / EM:.3f}em"
    return (
        f'<svg role="img" aria-label="{escape(latex)}" viewBox="0 0 {width:.1f} {height:.1f}" style="{size};'
        f'overflow:visible;flex:none"><path fill="currentColor" d="{"".join(outline)}"/></svg>'
    )


def _inline(translator: Any, node: nodes.Element) -> None:
    translator.body.append(drawn(node.astext()))
    raise nodes.SkipNode


def _display(translator: Any, node: nodes.Element) -> None:
    translator.body.append(f'<div class="formula">{drawn(node.astext())}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name "drawn"."""
    app.add_html_math_renderer("drawn", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
