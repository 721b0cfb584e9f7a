"""Errors in what a user gave: a message that knows which parameters it names.

The library calls a parameter by its Python name, the command line by its flag. A message is therefore kept in
parts, text and `Parameter`, and joined only when somebody reads it. User data inside the text stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

_NO_VALUE: Any = ...


class Parameter:
    """A parameter that a message names, on its own or with a value.

    Examples
    --------
    >>> from nafs._support.errors import Parameter
    >>> print(Parameter("n_hops"), Parameter("state_dtype", "float16"))
    n_hops state_dtype='float16'
    """

    def __init__(self, name: str, value: object = _NO_VALUE) -> None:
        self.name = name
        self.value = value

    @property
    def has_value(self) -> bool:
        """Whether the message names a value of the parameter too."""
        return self.value is not _NO_VALUE

    def __str__(self) -> str:
        return f"{self.name}={self.value!r}" if self.has_value else self.name

    def __repr__(self) -> str:
        return f"Parameter({self.name!r}, {self.value!r})" if self.has_value else f"Parameter({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parameter) and (self.name, self.value) == (other.name, other.value)

    def __hash__(self) -> int:
        return hash(self.name)


Part = str | Parameter


class InputError(ValueError):
    """Something that the user gave cannot be used.

    The message says what was found, where, and what to do. Anything else that is raised is a bug in nafs.

    Parameters
    ----------
    *parts
        The message: text, and a `Parameter` wherever it names one.

    Attributes
    ----------
    parts : tuple of str and Parameter
        The message before it is joined.
    parameter : str or None
        Python name of the parameter at fault: the first one that the message names.

    Examples
    --------
    >>> from nafs._support.errors import InputError, Parameter
    >>> error = InputError(Parameter("n_hops"), " must be 0 or more; got -1")
    >>> print(error)
    n_hops must be 0 or more; got -1
    >>> error.parameter
    'n_hops'
    >>> error.render(lambda parameter: {"n_hops": "--hops"}[parameter.name])
    '--hops must be 0 or more; got -1'
    """

    def __init__(self, *parts: Part) -> None:
        self.parts = parts
        self.parameter = next((part.name for part in parts if isinstance(part, Parameter)), None)
        super().__init__(self.render(str))

    def render(self, show: Callable[[Parameter], str]) -> str:
        """Join the message, with every parameter as ``show`` writes it."""
        return "".join(part if isinstance(part, str) else show(part) for part in self.parts)

    def at(self, place: str) -> Self:
        """The same error with the place in front, such as a file's name.

        Examples
        --------
        >>> from nafs._support.errors import InputError
        >>> print(InputError("the table has no rows").at("features.csv"))
        features.csv: the table has no rows
        """
        return type(self)(f"{place}: ", *self.parts)

    def __str__(self) -> str:  # the other base classes of the subclasses below would format it differently
        return str(self.args[0])

    def __reduce__(self) -> tuple[type[InputError], tuple[Part, ...]]:
        return type(self), self.parts


class InputTypeError(InputError, TypeError):
    """A value of a type that cannot be used."""


class MemoryLimitError(InputError, MemoryError):
    """More memory would be needed than the limit, or the machine, allows."""


class OutputExistsError(InputError, FileExistsError):
    """The output exists already and may not be overwritten."""


class MissingExtraError(InputError, ImportError):
    """An optional package that this needs is not installed."""
