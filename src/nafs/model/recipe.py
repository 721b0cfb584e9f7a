"""How a model's features are computed from a table or a matrix, so that new rows are treated the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError, Parameter
from nafs.graph import Graph, read_features
from nafs.graph.node_columns import listed
from nafs.readers.mixed import Encoding
from nafs.selection.preprocessing import Preparation
from nafs.tables import Balance, TableEncoder
from nafs.tables.codecs import Text
from nafs.tables.kinds import read_values
from nafs.tables.new_values import unknown_categories

_PREPARED = ("scale", "shift", "common", "directions")


@dataclass(frozen=True, eq=False)
class Recipe:
    """The way from raw columns to the features that are smoothed.

    Attributes
    ----------
    n_columns : int
        Raw columns, or columns of an encoded table.
    names : tuple of str, optional
        Names of raw columns, if the features come from a table of numbers.
    encoding : Encoding, optional
        How a table of mixed columns is encoded.
    preparation : Preparation, optional
        Scaling, centre and directions.
    lost : bool
        The features were encoded, but the encoder is not known any more.
    """

    n_columns: int
    names: tuple[str, ...] | None = None
    encoding: Encoding | None = None
    preparation: Preparation | None = None
    lost: bool = False

    @classmethod
    def of(cls, graph: Graph, preparation: Preparation | None = None) -> Recipe:
        """The recipe of a graph's features."""
        assert graph.features is not None
        encoding = graph.features.encoding
        known = encoding if isinstance(encoding, Encoding) else None
        lost = encoding is not None and known is None
        return cls(graph.features.shape[1], graph.feature_names, known, preparation, lost)

    def apply(self, rows: Any, n_rows: int) -> NDArray[np.float32]:
        """Features of new rows.

        Parameters
        ----------
        rows : array-like, sparse matrix, data frame, Arrow table or dict of columns
            As the features that the model was built from.
        n_rows : int
        """
        table = _as_table(rows)
        if table is not None:
            rows = self._from_table(table)
        elif self.encoding is not None:
            raise InputError(
                Parameter("features"),
                " must be a data frame, an Arrow table or a dict of columns: the model was built from a "
                f"table with {listed([encoding.column for encoding in self.encoding.encoder.used])}",
            )
        if not hasattr(rows, "tocsr"):
            rows = np.asarray(rows, np.float32).reshape(n_rows, -1)
        if rows.shape != (n_rows, self.n_columns):
            raise InputError(
                Parameter("features"),
                f" have {rows.shape[0]} rows of {rows.shape[1]} columns for {n_rows} ids; "
                f"the model has {self.n_columns}",
            )
        if not n_rows:
            return np.zeros((0, self._width()), np.float32)
        features = read_features(rows)
        if self.preparation is not None:
            features = self.preparation.apply(features)
        return features.toarray()

    def notes_on(self, rows: Any) -> list[str]:
        """What the user should know about new rows: categories that the model does not know."""
        table = None if self.encoding is None else _as_table(rows)
        if self.encoding is None or table is None:
            return []
        return unknown_categories(self.encoding.encoder, table)

    def _from_table(self, table: Any) -> Any:
        if self.encoding is not None:
            return self.encoding.encode(table)
        if self.lost:
            raise InputError(
                Parameter("features"),
                ": the model was built from a saved graph, which does not say how its table was encoded; "
                "build it from the table itself",
            )
        names = list(self.names or table.column_names)
        missing = [name for name in names if name not in table.column_names]
        if missing:
            raise InputError(
                Parameter("features"),
                f" lack {listed(missing)}, which the model was built from; there are "
                f"{listed(table.column_names, 12)}",
            )
        return np.column_stack([_numbers(table[name], name) for name in names])

    def _width(self) -> int:
        directions = None if self.preparation is None else self.preparation.directions
        return self.n_columns if directions is None else int(directions.shape[1])

    def check(self, n_features: int) -> None:
        """Raise an error if what was read from a file cannot make this many features of a row."""
        if self.names is not None and not all(isinstance(name, str) for name in self.names):
            raise ValueError("its columns have no names")
        if self.encoding is not None:
            _check_encoding(self.encoding, self.n_columns)
        for name in _PREPARED:
            array = getattr(self.preparation, name, None)
            shape = (self.n_columns, n_features) if name == "directions" else (self.n_columns,)
            fits = array is None or (array.shape == shape and array.dtype.kind == "f")
            if not fits or (array is not None and not np.isfinite(array).all()):
                raise ValueError(f"prepared_{name}.npy does not fit its columns")
        if self._width() != n_features:
            raise ValueError(f"its table makes {self._width()} features, not {n_features}")

    def to_plain(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The recipe as values for JSON and arrays."""
        plain: dict[str, Any] = {
            "columns": self.n_columns,
            "names": None if self.names is None else list(self.names),
            "lost": self.lost,
            "preparation": None,
            "encoder": None,
        }
        arrays: dict[str, NDArray[Any]] = {}
        if self.preparation is not None:
            plain["preparation"] = {"kind": self.preparation.kind, "center": self.preparation.center}
            for name in _PREPARED:
                array = getattr(self.preparation, name)
                if array is not None:
                    arrays[f"prepared_{name}"] = array
        if self.encoding is not None:
            plain["encoder"], own = self.encoding.encoder.to_plain()
            arrays |= {f"encoder_{name}": array for name, array in own.items()}
            arrays["balance_factors"] = self.encoding.balance.factors
            arrays["balance_scores"] = self.encoding.balance.scores
        return plain, arrays

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Recipe:
        """The recipe that :meth:`to_plain` described."""
        preparation = encoding = None
        if plain["preparation"] is not None:
            fitted = {name: arrays.get(f"prepared_{name}") for name in _PREPARED}
            about = plain["preparation"]
            preparation = Preparation(about["kind"], about["center"], **fitted)
        if plain["encoder"] is not None:
            own = {
                name.removeprefix("encoder_"): array
                for name, array in arrays.items()
                if name.startswith("encoder_")
            }
            encoder = TableEncoder.from_plain(plain["encoder"], own)
            encoding = Encoding(encoder, Balance(arrays["balance_factors"], arrays["balance_scores"]))
        names = None if plain["names"] is None else tuple(plain["names"])
        return cls(plain["columns"], names, encoding, preparation, bool(plain["lost"]))


def _check_encoding(encoding: Encoding, n_columns: int) -> None:
    """Raise an error if the columns of a table are encoded in a way that cannot work."""
    used = encoding.encoder.used
    if len(encoding.balance.factors) != len(used):
        raise ValueError("its table has not as many weights as columns")
    missing: dict[str, Any] = {"number": np.array([np.nan]), "date": np.array([np.nan])}
    for entry in used:
        codec = entry.codec
        if isinstance(codec, Text):  # encoding would import scikit-learn
            words = {word for word in codec.words if isinstance(word, str)}
            if not len(words) == len(codec.words) == len(codec.idf) or codec.idf.dtype.kind != "f":
                raise ValueError(f"the words of the column {entry.column!r:.80} do not fit their weights")
        elif codec is not None:
            codec.encode(missing.get(codec.kind, np.array([None])))
    width = sum(len(entry.names()) for entry in used)
    if width != n_columns:
        raise ValueError(f"its table makes {width} columns, not {n_columns}")


def _as_table(rows: Any) -> Any:
    """Rows as an Arrow table, if they have named columns."""
    import pyarrow as pa

    if isinstance(rows, Mapping):
        return pa.table(dict(rows))
    if hasattr(rows, "__arrow_c_stream__") and not isinstance(rows, pa.ChunkedArray):
        return pa.table(rows)
    return None


def _numbers(column: Any, name: str) -> NDArray[np.float32]:
    import pyarrow as pa

    try:
        values = np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            raise InputError(Parameter("features"), f": column {name!r} does not hold numbers") from None
        values = read_values(column, "number")
    unread = np.flatnonzero(~np.isfinite(values))
    if len(unread):
        value = column[int(unread[0])].as_py()
        problem = "a value is missing" if value is None else f"{str(value)[:80]!r} is not a finite number"
        raise InputError(
            Parameter("features"),
            f": row {unread[0] + 1}, column {name!r}: {problem}; the model needs a number in every row",
        )
    return values.astype(np.float32)


def columns_of(recipe: Recipe) -> Sequence[str] | None:
    """Names of the raw columns that new rows need, if they are known."""
    if recipe.encoding is not None:
        return [encoding.column for encoding in recipe.encoding.encoder.used]
    return recipe.names
