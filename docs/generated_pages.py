"""Generated reference pages: packages and their names, commands and their options, settings."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

import nafs

# In the order in which data flows.
PACKAGES = (
    "datasets", "model", "answers", "clustering", "links", "selection", "pipeline", "similarity", "writers",
    "pyg", "tasks", "rivals", "pictures", "report",
)  # fmt: skip


def write_pages(folder: Path) -> None:
    """Write all pages. Unchanged ones keep their date, so that Sphinx skips them."""
    pages = {"packages.md": packages(), "commands.md": commands(), "settings.md": settings()}
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def packages() -> str:
    """The public names of every package that is not re-exported by `nafs` itself."""
    parts = ["# Packages\n\nWhat each package exports beside the names of `nafs` itself.\n"]
    listed: list[Any] = []  # a name that two packages export is listed with the first
    for name in PACKAGES:
        module = import_module(f"nafs.{name}")
        summary = (module.__doc__ or "").strip().splitlines()[0].strip()
        values = {key: getattr(module, key) for key in public_names(module)}
        values = {key: value for key, value in values.items() if not any(value is known for known in listed)}
        listed += values.values()
        parts += [f"## nafs.{name}\n", f"{summary}\n"]
        parts += [
            "```{eval-rst}",
            f".. currentmodule:: nafs.{name}",
            ".. autosummary::",
            "   :toctree: api",
            "",
        ]
        parts += [f"   {key}" for key, value in values.items() if callable(value)]
        parts += ["```\n"]
        constants = [f"`{key}`" for key, value in values.items() if not callable(value)]
        if constants:
            parts += [f"Constants: {', '.join(constants)}.\n"]
    return "\n".join(parts)


def public_names(module: ModuleType) -> list[str]:
    """What a package exports and `nafs` does not."""
    named = getattr(module, "__all__", None) or [
        key
        for key, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ and not key.startswith("_")
    ]
    return [key for key in named if key not in nafs.__all__ or getattr(nafs, key) is not getattr(module, key)]


def commands() -> str:
    """Every command of `nafs` with its arguments and options."""
    import typer

    from nafs.cli.app import app

    group = typer.main.get_command(app)
    parts = ["# Commands\n\nWritten by the program itself: `nafs COMMAND --help` prints the same.\n"]
    for name, command in sorted(group.commands.items()):  # type: ignore[attr-defined]
        parts += _command(f"nafs {name}", command)
    return "\n".join(parts)


def _command(name: str, command: Any) -> list[str]:
    subcommands = getattr(command, "commands", {})
    if subcommands:
        return [line for key, sub in subcommands.items() for line in _command(f"{name} {key}", sub)]
    example = re.compile(r"\[dim\](nafs .*?)\[/dim\]", re.S)
    text = _plain(example.sub(r"```text\n\1\n```", command.help or "")).strip()
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    usage = " ".join([name, *(p.metavar or p.name.upper() for p in arguments), "[OPTIONS]"])
    parts = [
        f"## {name}\n",
        f"{text}\n",
        f"```text\n{usage}\n```\n",
        "| option | what it does | default |",
        "|---|---|---|",
    ]
    parts += [
        f"| {_cell(p.metavar or p.name)} | {_cell(_plain(getattr(p, 'help', '') or ''))} | |"
        for p in arguments
    ]
    for p in command.params:
        if p.param_type_name == "option" and p.name != "help":
            flags = ", ".join(f"`{flag}`" for flag in (*p.opts, *p.secondary_opts))
            default = "" if p.default in (None, False) or callable(p.default) else f"`{p.default}`"
            parts.append(f"| {flags} | {_cell(_plain(p.help or ''))} | {_cell(default)} |")
    return [*parts, ""]


def settings() -> str:
    """Every setting with its default, by the package that it belongs to."""
    from nafs.engines.resources import Resources
    from nafs.selection.settings import Preparations
    from nafs.smoothing.method import MethodSettings

    parts = [
        "# Settings\n",
        "`nafs.NAFS`, `nafs.embed` and the [command line](commands.md) share these names. "
        "The defaults are those of `nafs.embed`.\n",
    ]
    documented = _documented_parameters()
    defaults = {name: parameter.default for name, parameter in signature(nafs.embed).parameters.items()}
    for title, kind in (("Method", MethodSettings), ("Preparation", Preparations), ("Resources", Resources)):
        parts += [f"## {title}\n", "| setting | values | default | meaning |", "|---|---|---|---|"]
        for entry in fields(kind):
            values, meaning = documented[entry.name]
            parts.append(
                f"| `{entry.name}` | {_cell(values)} | `{defaults[entry.name]!r}` | {_cell(meaning)} |"
            )
        parts.append("")
    return "\n".join(parts)


def _documented_parameters() -> dict[str, tuple[str, str]]:
    """Values and meaning of every parameter, from the docstrings of `NAFS` and `embed`."""
    from numpydoc.docscrape import FunctionDoc

    documented = {}
    for described in (nafs.embed, nafs.NAFS):
        for names, values, lines in FunctionDoc(described)["Parameters"]:
            for name in names.split(", "):
                if lines and not lines[0].startswith("As in"):
                    text = re.sub(r":\w+:`[\w.]*?(\w+)`", r"`\1`", " ".join(lines)).replace("``", "`")
                    documented[name] = values.partition(", default")[0], text
    return documented


def _plain(text: str) -> str:
    """Help without rich's markup."""
    return re.sub(r"\[/?(?:dim|bold)\]", "", text)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
