"""How the values of one column become numbers: one codec for each kind of column.

A fitted codec holds only plain values (numbers, strings, arrays), so it can be saved as JSON and applied to
new rows later. Missing and unknown values become zeros: the mean of a number, no category, no words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

FAR = 4.0  # deviations; numbers further out are clipped
MOST_CATEGORIES = 1000
MOST_WORDS = 20_000
_YEAR = 365.2425 * 86400
_WEEK = 7 * 86400.0
_DAY = 86400.0


@dataclass(frozen=True)
class Number:
    """A number, scaled to mean 0 and deviation 1, with a flag where values are missing."""

    kind: ClassVar[str] = "number"
    mean: float
    deviation: float
    flag_missing: bool

    @classmethod
    def fit(cls, values: NDArray[np.float64]) -> Number:
        """The mean and deviation of the values that are not missing."""
        present = values[np.isfinite(values)]
        mean, deviation = (float(present.mean()), float(present.std())) if len(present) else (0.0, 0.0)
        missing = 1 - len(present) / max(1, len(values))
        return cls(mean, deviation if deviation > 0 else 1.0, 0.01 <= missing <= 0.99)

    def encode(self, values: NDArray[np.float64]) -> Any:
        """Columns of numbers."""
        present = np.isfinite(values)
        scaled = np.where(present, (np.where(present, values, 0) - self.mean) / self.deviation, 0.0)
        columns = [np.clip(scaled, -FAR, FAR)]
        columns += [np.where(present, 0.0, 1.0)] if self.flag_missing else []
        return sp.csr_array(np.column_stack(columns).astype(np.float32))

    def names(self) -> list[str]:
        """What each column stands for."""
        return ["", "missing"] if self.flag_missing else [""]

    def explain(self) -> str:
        """What is done, in words."""
        flag = ", with a flag for missing values" if self.flag_missing else ""
        return f"standardised (mean {self.mean:.4g}, deviation {self.deviation:.4g}){flag}"


@dataclass(frozen=True)
class Category:
    """One column for each value that occurs more than once, the most frequent first."""

    kind: ClassVar[str] = "category"
    values: list[str]
    dropped: int

    @classmethod
    def fit(cls, values: NDArray[Any]) -> Category:
        """The values that at least two rows share."""
        present = np.asarray([value for value in values if value is not None], dtype=str)
        distinct, counts = np.unique(present, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        kept = [str(distinct[i]) for i in order if counts[i] > 1][:MOST_CATEGORIES]
        return cls(kept, len(distinct) - len(kept))

    def encode(self, values: NDArray[Any]) -> Any:
        """One 1 in each row."""
        place = {value: i for i, value in enumerate(self.values)}
        codes = np.fromiter((place.get(value, -1) for value in values), np.int64, len(values))
        rows = np.flatnonzero(codes >= 0)
        shape = (len(values), max(1, len(self.values)))
        return sp.csr_array((np.ones(len(rows), np.float32), (rows, codes[rows])), shape)

    def names(self) -> list[str]:
        """What each column stands for."""
        return list(self.values) or ["nothing"]

    def explain(self) -> str:
        """What is done, in words."""
        some = "one value" if len(self.values) == 1 else f"each of {len(self.values)} values"
        rare = (
            f"; {self.dropped} rare value{'' if self.dropped == 1 else 's'} left out" if self.dropped else ""
        )
        return f"one column for {some}{rare}"


@dataclass(frozen=True)
class Date:
    """The time, and the position in the year, the week and the day, as far as the values differ in them."""

    kind: ClassVar[str] = "date"
    mean: float
    deviation: float
    cycles: list[float]

    @classmethod
    def fit(cls, values: NDArray[np.float64]) -> Date:
        """Mean, deviation, and the cycles that the values cover."""
        present = values[np.isfinite(values)]
        if not len(present):
            return cls(0.0, 1.0, [])
        span = float(present.max() - present.min())
        cycles = [length for length in (_YEAR, _WEEK) if span > length]
        cycles += [_DAY] if (np.mod(present, _DAY) > 0).mean() > 0.5 else []
        return cls(float(present.mean()), float(present.std()) or 1.0, cycles)

    def encode(self, values: NDArray[np.float64]) -> Any:
        """Columns of numbers."""
        present = np.isfinite(values)
        seconds = np.where(present, values, self.mean)
        columns = [np.clip((seconds - self.mean) / self.deviation, -FAR, FAR)]
        for length in self.cycles:
            angle = 2 * np.pi * np.mod(seconds, length) / length
            columns += [np.sin(angle) * present, np.cos(angle) * present]
        return sp.csr_array(np.column_stack(columns).astype(np.float32))

    def names(self) -> list[str]:
        """What each column stands for."""
        spoken = {_YEAR: "year", _WEEK: "week", _DAY: "day"}
        return ["time", *(f"{part} of {spoken[c]}" for c in self.cycles for part in ("sine", "cosine"))]

    def explain(self) -> str:
        """What is done, in words."""
        spoken = {_YEAR: "year", _WEEK: "week", _DAY: "day"}
        places = " and ".join(spoken[c] for c in self.cycles)
        return "as time" + (f" and as position in the {places}" if places else "")


@dataclass(frozen=True, eq=False)
class Text:
    """TF-IDF of the words, with rows of length 1."""

    kind: ClassVar[str] = "text"
    words: list[str]
    idf: NDArray[np.float64] = field(repr=False)

    @classmethod
    def fit(cls, values: NDArray[Any]) -> Text:
        """The words that at least two rows have."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = [value or "" for value in values]
        for rarest in (2, 1):
            model = TfidfVectorizer(min_df=rarest, max_features=MOST_WORDS, strip_accents="unicode")
            try:
                model.fit(texts)
            except ValueError:  # no words remain
                continue
            return cls(model.get_feature_names_out().tolist(), model.idf_.astype(np.float64))
        return cls([], np.zeros(0))

    def encode(self, values: NDArray[Any]) -> Any:
        """TF-IDF of the known words."""
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.preprocessing import normalize

        if not self.words:
            return sp.csr_array((len(values), 1), dtype=np.float32)
        model = CountVectorizer(vocabulary=self.words, strip_accents="unicode", dtype=np.float64)
        counts = sp.csr_array(model.transform([value or "" for value in values]))
        counts.data *= self.idf[counts.indices]
        return sp.csr_array(normalize(counts), dtype=np.float32)

    def names(self) -> list[str]:
        """What each column stands for."""
        return self.words or ["nothing"]

    def explain(self) -> str:
        """What is done, in words."""
        return f"TF-IDF of {len(self.words):,} word{'' if len(self.words) == 1 else 's'}"


Codec = Number | Category | Date | Text
CODECS: dict[str, Any] = {codec.kind: codec for codec in (Number, Category, Date, Text)}
