"""Errors in user input: their messages know which parameters they name.

The library calls a parameter by its Python name, the command line by its flag. A message is therefore kept in
parts, text and `Parameter`, and joined only when it is shown. User data inside the text is never rewritten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

_NO_VALUE: Any = ...


class Parameter:
    """A parameter named in a message, with or without a value.

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
        """Whether the message also names a value of the parameter."""
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
_LONGEST = 1200  # characters of a part of a message, which may hold a name or a value of any length


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 200]} ... {text[-195:]}"


class InputError(ValueError):
    """The user's input or settings cannot be used.

    The message says what was found, where, and what to do. Any other exception is a bug in nafs.

    Parameters
    ----------
    *parts
        The message: text, with a `Parameter` wherever it names one.

    Attributes
    ----------
    parts : tuple of str and Parameter
        The unjoined message.
    parameter : str or None
        Python name of the parameter at fault: the first one named in the message.

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
        self.parts = tuple(_cut(part) if isinstance(part, str) else part for part in parts)
        self.parameter = next((part.name for part in parts if isinstance(part, Parameter)), None)
        super().__init__(self.render(str))

    def render(self, show: Callable[[Parameter], str]) -> str:
        """Join the message; ``show`` formats each parameter."""
        return "".join(part if isinstance(part, str) else show(part) for part in self.parts)

    def at(self, place: str) -> Self:
        """The same error, prefixed with a place such as a file name.

        Examples
        --------
        >>> from nafs._support.errors import InputError
        >>> print(InputError("the table has no rows").at("features.csv"))
        features.csv: the table has no rows
        """
        return type(self)(f"{place}: ", *self.parts)

    def __str__(self) -> str:  # the second base class of a subclass may format it differently
        return str(self.args[0])

    def __reduce__(self) -> tuple[type[InputError], tuple[Part, ...]]:
        return type(self), self.parts


class InputTypeError(InputError, TypeError):
    """A value has the wrong type."""


class MemoryLimitError(InputError, MemoryError):
    """The memory limit, or the machine's memory, is too small."""


class OutputExistsError(InputError, FileExistsError):
    """The output already exists and may not be overwritten."""


class MissingExtraError(InputError, ImportError):
    """A required optional package is not installed."""
