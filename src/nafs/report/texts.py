"""Text columns of a served page: kept in a Parquet file, searched there by DuckDB."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.readers.database import duckdb_connection


class TextTable:
    """The texts of all nodes, on disk, by node or by the words that they contain.

    Parameters
    ----------
    columns : dict of int to list of (str or None)
        Texts by the number of their column.

    Examples
    --------
    >>> from nafs.report.texts import TextTable
    >>> with TextTable({3: ["red wine", None, "White Wine"]}) as texts:
    ...     print(texts.of(0), texts.search("WHITE", 5), texts.containing(3, "wine", 3))
    {3: 'red wine'} [(2, 'White Wine')] [1 0 1]
    """

    def __init__(self, columns: dict[int, list[str | None]]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.columns = list(columns)
        self._open = ExitStack()
        if not columns:
            return
        folder = self._open.enter_context(tempfile.TemporaryDirectory(prefix="nafs-texts-"))
        path = Path(folder) / "texts.parquet"
        texts = {f"t{i}": pa.array(values, pa.large_string()) for i, values in columns.items()}
        rows = np.arange(len(next(iter(columns.values()))))
        pq.write_table(pa.table({"row": rows} | texts), path)
        self._duck = self._open.enter_context(duckdb_connection())
        self._path = str(path)

    def of(self, node: int) -> dict[int, str]:
        """The texts of a node by the number of their column."""
        if not self.columns:
            return {}
        names = ", ".join(f"t{i}" for i in self.columns)
        ((*texts,),) = self._ask(f"SELECT {names} FROM read_parquet(?) WHERE row = ?", [self._path, node])
        return {i: text for i, text in zip(self.columns, texts, strict=True) if text is not None}

    def search(self, words: str, most: int) -> list[tuple[int, str]]:
        """Nodes with these words in a text, and that text."""
        matches: list[tuple[int, str]] = []
        for i in self.columns:
            query = (
                f"SELECT row, t{i} FROM read_parquet(?) WHERE contains(lower(t{i}), ?) ORDER BY row LIMIT ?"
            )
            matches += self._ask(query, [self._path, words.lower(), most - len(matches)])
        return matches

    def containing(self, column: int, words: str, n: int) -> NDArray[np.uint8]:
        """1 for each node with these words in a column."""
        inside = np.zeros(n, np.uint8)
        query = f"SELECT row FROM read_parquet(?) WHERE contains(lower(t{int(column)}), ?)"
        inside[[row for (row,) in self._ask(query, [self._path, words.lower()])]] = 1
        return inside

    def _ask(self, query: str, values: list[Any]) -> list[Any]:
        # A separate cursor: requests come from several threads.
        return list(self._duck.cursor().execute(query, values).fetchall())

    def __enter__(self) -> TextTable:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
