"""Encode a table of mixed columns as blocks of features, and record what was done to each column.

The fitted encoder holds plain values only. It is saved as JSON and .npy arrays, never as a pickle, and new
rows are encoded by the same code as the first ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError
from nafs.graph.node_columns import listed
from nafs.tables.codecs import CODECS, Codec
from nafs.tables.kinds import find_kinds, in_words, read_values

VERSION = 1


@dataclass(frozen=True, eq=False)
class Encoding:
    """One column of a table and how it is encoded; ``codec`` is None if the column is ignored."""

    column: str
    kind: str
    why: str
    codec: Codec | None = None
    date_format: str | None = None

    def encode(self, values: Any) -> Any:
        """The block of a column of an Arrow table."""
        assert self.codec is not None
        return self.codec.encode(read_values(values, self.kind, self.date_format))

    def names(self) -> list[str]:
        """Names of the features."""
        assert self.codec is not None
        return [f"{self.column}: {name}" if name else self.column for name in self.codec.names()]

    def record(self) -> dict[str, Any]:
        """What was done, as plain values."""
        done = "left out" if self.codec is None else self.codec.explain()
        done += f", written {in_words(self.date_format)}" if self.date_format else ""
        width = 0 if self.codec is None else len(self.codec.names())
        return {
            "column": self.column,
            "kind": self.kind,
            "why": self.why,
            "done": done,
            "features": width,
        }


@dataclass(frozen=True, eq=False)
class TableEncoder:
    """Encodes the columns of a table; see :meth:`fit`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nafs.tables import TableEncoder
    >>> table = pa.table({"age": [30, 40, None, 50], "job": ["cook", "cook", "vet", "vet"]})
    >>> encoder = TableEncoder.fit(table)  # doctest: +SKIP
    >>> [(record["column"], record["kind"]) for record in encoder.records()]  # doctest: +SKIP
    [('age', 'number'), ('job', 'category')]
    """

    encodings: tuple[Encoding, ...]

    @classmethod
    def fit(
        cls,
        table: Any,
        *,
        text: Sequence[str] = (),
        category: Sequence[str] = (),
        ignore: Sequence[str] = (),
    ) -> TableEncoder:
        """Decide how each column is encoded.

        Parameters
        ----------
        table : Arrow table
            Without the columns of ids and labels.
        text, category, ignore : sequences of str
            Columns whose kind the user chose.

        Returns
        -------
        TableEncoder
        """
        forced: dict[str, str] = {}
        for kind, names in (("text", text), ("category", category), ("ignored", ignore)):
            for name in names:
                if name not in table.column_names:
                    raise InputError(
                        f"there is no column {name!r}; there are {listed(table.column_names, 12)}"
                    )
                if forced.get(name, kind) != kind:
                    raise InputError(f"the column {name!r} cannot be both {forced[name]} and {kind}")
                forced[name] = kind
        encodings = []
        for column in find_kinds(table, forced):
            codec = None
            if column.kind in CODECS:
                values = read_values(table[column.name], column.kind, column.date_format)
                codec = CODECS[column.kind].fit(values)
            encodings.append(Encoding(column.name, column.kind, column.why, codec, column.date_format))
        if not any(encoding.codec is not None for encoding in encodings):
            raise InputError("no column of the table can be used as a feature")
        return cls(tuple(encodings))

    @property
    def used(self) -> tuple[Encoding, ...]:
        """The columns that become features."""
        return tuple(encoding for encoding in self.encodings if encoding.codec is not None)

    def blocks(self, table: Any) -> list[Any]:
        """A sparse matrix for each used column, for these or for new rows.

        Parameters
        ----------
        table : Arrow table
            With the columns that were fitted; others are ignored.
        """
        missing = [encoding.column for encoding in self.used if encoding.column not in table.column_names]
        if missing:
            raise InputError(
                f"the table lacks {listed(missing)}, which the features were made from; it has "
                f"{listed(table.column_names, 12)}"
            )
        return [encoding.encode(table[encoding.column]) for encoding in self.used]

    def records(self) -> list[dict[str, Any]]:
        """What was done to each column, as plain values."""
        return [encoding.record() for encoding in self.encodings]

    def names(self) -> list[str]:
        """Names of all features."""
        return [name for encoding in self.used for name in encoding.names()]

    def to_plain(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The encoder as values for JSON and arrays."""
        arrays, columns = {}, []
        for i, encoding in enumerate(self.encodings):
            codec = {} if encoding.codec is None else asdict(encoding.codec)
            for key in [key for key, value in codec.items() if isinstance(value, np.ndarray)]:
                arrays[f"column{i}_{key}"] = codec.pop(key)
            columns.append(
                {
                    "column": encoding.column,
                    "kind": encoding.kind,
                    "why": encoding.why,
                    "date_format": encoding.date_format,
                    "codec": codec if encoding.codec is not None else None,
                }
            )
        return {"version": VERSION, "columns": columns}, arrays

    @classmethod
    def from_plain(cls, plain: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> TableEncoder:
        """The encoder that :meth:`to_plain` described."""
        if plain.get("version") != VERSION:
            raise InputError(f"the table's encoding has version {plain.get('version')}, not {VERSION}")
        encodings = []
        for i, column in enumerate(plain["columns"]):
            codec = None
            if column["codec"] is not None:
                kind = CODECS[column["kind"]]
                prefix = f"column{i}_"
                own = {
                    key.removeprefix(prefix): value for key, value in arrays.items() if key.startswith(prefix)
                }
                codec = kind(**column["codec"], **own)
            encodings.append(
                Encoding(column["column"], column["kind"], column["why"], codec, column["date_format"])
            )
        return cls(tuple(encodings))


def is_plain(table: Any) -> bool:
    """Whether all columns are numbers without gaps, which need no encoding."""
    import pyarrow as pa

    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    return all(
        any(is_kind(column.type) for is_kind in numeric) and column.null_count == 0
        for column in table.columns
    )
