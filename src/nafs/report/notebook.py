"""The page inside a notebook."""

from __future__ import annotations

import html
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from nafs.embedding import Embedding
from nafs.graph import Graph
from nafs.graph.node_columns import choose_id, table_of, with_index, without_index
from nafs.report.columns import columns_of_table
from nafs.report.contents import Stage, collect
from nafs.report.page import render, write_page


@dataclass(frozen=True)
class Frame:
    """A page that notebooks show in a sandboxed frame, isolated from the notebook's scripts."""

    page: str
    height: int

    def _repr_html_(self) -> str:
        content = html.escape(self.page, quote=True)
        # Without allow-same-origin the page can neither read nor change the notebook.
        return (
            f'<iframe srcdoc="{content}" sandbox="allow-scripts allow-downloads" title="Embedding" '
            f'style="width:100%;height:{self.height}px;border:1px solid #ccc;border-radius:8px"></iframe>'
        )


def explore(
    embedding: Embedding,
    graph: Graph | None,
    columns: Any,
    *,
    path: str | os.PathLike[str] | None,
    height: int,
    n_threads: int,
    progress: Callable[[str, float], None] | None = None,
) -> Frame | None:
    """See :meth:`nafs.Embedding.explore`."""
    shown = []
    if columns is not None:
        table, index = with_index(table_of(columns, "columns"), "columns")
        names = without_index(table.column_names, index)
        key = choose_id(names, lambda name: table[name], embedding.id_array, index=index, where="columns")
        ordered = table.select([key, *(name for name in names if name != key)])
        shown = columns_of_table(ordered, embedding.id_array)
    line = _Line.in_notebook() if progress is None else None
    stage = _stages(progress or line)
    data = collect(embedding, graph, columns=shown, title="Embedding", n_threads=n_threads, stage=stage)
    if line is not None:
        line.finish()
    if path is not None:
        write_page(data, path)
        return None
    return Frame(render(data), height)


def _stages(progress: Callable[[str, float], None] | None) -> Stage | None:
    """What `collect` calls for each part of its work, from a function of the part and its share done."""
    if progress is None:
        return None

    @contextmanager
    def stage(name: str, _: float | None) -> Iterator[Callable[[float], None]]:
        done = 0.0

        def advance(share: float) -> None:
            nonlocal done
            done = min(1.0, done + share)
            progress(name, done)

        progress(name, 0.0)
        yield advance

    return stage


class _Line:
    """A line above the page that says what is being computed."""

    def __init__(self, handle: Any) -> None:
        self.handle, self.start, self.shown = handle, time.monotonic(), ""

    @classmethod
    def in_notebook(cls) -> _Line | None:
        """A new line, or none outside of notebooks."""
        ipython: Any = sys.modules.get("IPython")
        if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
            return None
        return cls(ipython.display.display({"text/plain": "page …"}, raw=True, display_id=True))

    def __call__(self, name: str, share: float) -> None:
        self._show(f"page: {name} {100 * share:.0f} %" if share else f"page: {name} …")

    def finish(self) -> None:
        """Say how long the page took."""
        self._show(f"page: done in {time.monotonic() - self.start:.1f} s")

    def _show(self, text: str) -> None:
        if text != self.shown:
            self.shown = text
            self.handle.update({"text/plain": text}, raw=True)
