"""How options become flags: commands take typed groups of options, and `command` spells them out for typer.

A group is a dataclass whose fields are annotated with a `Flag`. A command declares the groups that it needs::

    @command
    def describe(edges: Edges, reading: Reading, printing: Printing) -> None: ...

Its defaults are those of the group, or of the instance that the command names as the default. Two groups may
hold a field of the same name and flag, such as the memory limit of reading and embedding: it is one option.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from contextvars import ContextVar
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.models import ArgumentInfo

from nafs._support.errors import InputError, Parameter


@dataclass(frozen=True)
class Flag:
    """How the command line spells an option; created by `flag`, `text_flag` or `switch`."""

    names: tuple[str, ...]
    help: str
    panel: str | None = None
    metavar: str | None = None
    kind: Any = None
    parse: Callable[[Any], Any] | None = None
    write: Callable[[Any], Any] = str
    on: object = True
    stands_for: Parameter | None = None

    def show(self, parameter: Parameter) -> str:
        """A parameter as a person types it."""
        on, _, off = self.names[0].partition("/")
        if not parameter.has_value:
            return on
        if self.kind is bool or isinstance(parameter.value, bool):
            return on if parameter.value == self.on else off or f"no {on}"
        return f"{on} {self.write(parameter.value) or repr('')}"

    def for_typer(self, hint: Any, default: Any) -> tuple[Any, Any]:
        """The annotation and the default that typer reads."""
        if self.parse is not None:
            hint = self.kind if self.kind is bool else (str | None if default is None else str)
        if self.parse is not None and default not in (None, inspect.Parameter.empty):
            default = self.write(default)
        info = typer.Option(
            *self.names,
            help=self.help,
            rich_help_panel=self.panel,
            metavar=" " if hint in (bool, bool | None) else self.metavar,  # instead of <bool>
            show_default=not any(default is value for value in (None, False, "", inspect.Parameter.empty)),
        )
        return Annotated[hint, info], default


def flag(*names: str, help: str, panel: str | None = None, metavar: str | None = None) -> Flag:  # noqa: A002
    """An option whose value typer reads by the field's own type."""
    return Flag(names, help, panel, metavar)


def text_flag(
    *names: str,
    help: str,  # noqa: A002
    parse: Callable[[str], Any],
    write: Callable[[Any], str] = str,
    panel: str | None = None,
    metavar: str | None = None,
) -> Flag:
    """An option that is typed as text; ``parse`` makes the value, ``write`` shows the default."""
    return Flag(names, help, panel, metavar, str, parse, write)


def switch(
    name: str,
    *,
    help: str,  # noqa: A002
    panel: str | None = None,
    on: object = True,
    off: object = False,
    stands_for: Parameter | None = None,
) -> Flag:
    """A flag without a value: ``on`` with it, ``off`` without it.

    ``stands_for`` is the library's parameter and value that the flag means, if they differ from the field.
    """

    def parse(wanted: bool) -> object:
        return on if wanted else off

    return Flag((name,), help, panel, None, bool, parse, lambda value: value == on, on, stands_for)


_Shown = Callable[[Parameter], str]
_running: ContextVar[_Shown] = ContextVar("flags of the command that runs", default=str)


def shown(error: InputError) -> str:
    """The message of an error with the flags of the command that runs."""
    return error.render(_running.get())


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the flat signature that typer reads, and pass it the groups that it declares."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {}
    options: dict[str, tuple[Any, Any]] = {}  # hint and default by name
    for parameter in inspect.signature(function).parameters.values():
        hint, default = hints[parameter.name], parameter.default
        if is_dataclass(hint):
            groups[parameter.name] = hint
            members = _members(hint, default)
        else:
            members = {parameter.name: (hint, default)}
        for name, member in members.items():
            if options.pop(name, member) != member:
                raise TypeError(f"{function.__name__} has two different options called {name}")
            options[name] = member
    flags = {name: meta for name, (hint, _) in options.items() for meta in get_args(hint)[1:]}
    parameters = [_parameter(name, hint, default) for name, (hint, default) in options.items()]

    @wraps(function)
    def run(**typed: Any) -> None:
        _running.set(lambda parameter: _show(flags, parameter))
        values = {name: _value(flags[name], value) for name, value in typed.items()}
        function(
            **{name: value for name, value in values.items() if name in hints and name not in groups},
            **{
                name: group(**{entry.name: values[entry.name] for entry in fields(group)})
                for name, group in groups.items()
            },
        )

    # Arguments without a default come first, as Python requires.
    parameters.sort(key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _members(group: Any, instance: Any) -> dict[str, tuple[Any, Any]]:
    """The fields of a group: hint and default, which the instance may change."""
    hints = get_type_hints(group, include_extras=True)
    defaults = {
        entry.name: inspect.Parameter.empty if entry.default is MISSING else entry.default
        for entry in fields(group)
    }
    if instance is not inspect.Parameter.empty:
        defaults = {name: getattr(instance, name) for name in defaults}
    return {name: (hints[name], default) for name, default in defaults.items()}


def _parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    kind, meta = get_args(hint)
    if isinstance(meta, Flag):
        hint, default = meta.for_typer(kind, default)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _value(meta: Flag | ArgumentInfo, value: Any) -> Any:
    if isinstance(meta, Flag) and meta.parse is not None and value is not None:
        return meta.parse(value)
    return value


def _show(flags: Mapping[str, Flag | ArgumentInfo], parameter: Parameter) -> str:
    for meta in flags.values():
        if isinstance(meta, Flag) and meta.stands_for == parameter:
            return meta.names[0]
    meta = flags.get(parameter.name)  # type: ignore[assignment]
    if isinstance(meta, Flag):
        return meta.show(parameter)
    if isinstance(meta, ArgumentInfo) and meta.metavar is not None:
        return meta.metavar
    return str(parameter)


def reject_changes(group: Any, default: Any, why: str, *, except_for: Collection[str] = ()) -> None:
    """Raise if an option of a group was set that has no effect here, instead of ignoring it silently."""
    for entry in fields(group):
        if entry.name not in except_for and getattr(group, entry.name) != getattr(default, entry.name):
            raise InputError(Parameter(entry.name), f" has no effect: {why}")
