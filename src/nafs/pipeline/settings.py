"""All settings of an embedding in one validated object, composed of those of each package."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from nafs._support.errors import InputTypeError
from nafs.engines.resources import Resources
from nafs.selection.settings import Preparations
from nafs.smoothing.method import AUTO, MethodSettings

_PARTS = {"method": MethodSettings, "preparations": Preparations, "resources": Resources}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The method's, the preparation's and the resources' settings; see :class:`nafs.NAFS` for the meaning.

    Examples
    --------
    >>> from nafs.pipeline import Settings
    >>> Settings.of(n_hops=3, memory_limit="1GB").method.n_hops
    3
    """

    method: MethodSettings = field(default_factory=MethodSettings)
    preparations: Preparations = field(default_factory=Preparations)
    resources: Resources = field(default_factory=Resources)

    @classmethod
    def of(cls, **options: Any) -> Settings:
        """Build settings from keyword options."""
        unknown = options.keys() - set(option_names())
        if unknown:
            raise InputTypeError(_unknown_option(min(unknown)))
        parts = {
            part: kind(**{name: options[name] for name in _names(kind) if name in options})
            for part, kind in _PARTS.items()
        }
        return cls(**parts)

    def as_dict(self) -> dict[str, Any]:
        """All settings by name, as plain values."""
        return asdict(self.method) | asdict(self.preparations) | asdict(self.resources)

    @property
    def preprocessing(self) -> str:
        """Preprocessing of the features; by default "auto" if the number of hops is "auto", else "none"."""
        if self.preparations.preprocessing is not None:
            return self.preparations.preprocessing
        return AUTO if self.method.n_hops == AUTO else "none"

    @property
    def structure(self) -> str | int:
        """Structural columns beside features: "none", "auto" or a number."""
        structure = self.preparations.structure
        return "none" if structure == AUTO and self.method.n_hops != AUTO else structure

    def with_hops(self, n_hops: int) -> Settings:
        """Settings with another number of hops and the same preprocessing."""
        return replace(
            self,
            method=replace(self.method, n_hops=n_hops),
            preparations=replace(self.preparations, preprocessing=self.preprocessing),
        )


def option_names() -> tuple[str, ...]:
    """The names of all settings."""
    return tuple(name for kind in _PARTS.values() for name in _names(kind))


def _names(kind: Any) -> list[str]:
    return [entry.name for entry in fields(kind)]


def _unknown_option(name: str) -> str:
    known = option_names()
    close = [other for other in known if name in other or other in name]
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
    return f"there is no option {name!r}; {hint}"
