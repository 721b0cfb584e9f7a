"""The page inside a notebook."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass
from typing import Any

from nafs.embedding import Embedding
from nafs.graph import Graph
from nafs.graph.node_columns import choose_id, table_of, with_index
from nafs.report.columns import columns_of_table
from nafs.report.contents import collect
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
) -> Frame | None:
    """See :meth:`nafs.Embedding.explore`."""
    shown = []
    if columns is not None:
        table, index = with_index(table_of(columns, "columns"), "columns")
        names = [name for name in table.column_names if index is None or name != index.column]
        key = choose_id(names, lambda name: table[name], embedding.id_array, index=index, where="columns")
        ordered = table.select([key, *(name for name in names if name != key)])
        shown = columns_of_table(ordered, embedding.id_array)
    data = collect(embedding, graph, columns=shown, title="Embedding", n_threads=n_threads)
    if path is not None:
        write_page(data, path)
        return None
    return Frame(render(data), height)
