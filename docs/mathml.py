"""Formulas as MathML, which browsers render without scripts or network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def _inline(translator: Any, node: nodes.Element) -> None:
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _display(translator: Any, node: nodes.Element) -> None:
    formula = convert(node.astext(), display="block")
    translator.body.append(f'<div style="overflow-x: auto; margin: 1rem 0">{formula}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name "mathml"."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
