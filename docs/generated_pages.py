"""Reference pages that the program writes: every command with its options, and every setting."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any


def write_pages(folder: Path) -> None:
    """Write commands.md and settings.md. Unchanged pages keep their date, so that Sphinx skips them."""
    for name, text in (("commands.md", commands()), ("settings.md", settings())):
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


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
    text = _plain(command.help or "").strip()
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
        "`nafs.NAFS`, `nafs.embed` and the command line share these names and defaults; "
        "[NAFS](api.md) says what each means.\n",
    ]
    for title, kind in (("Method", MethodSettings), ("Preparation", Preparations), ("Resources", Resources)):
        parts += [f"## {title}\n", "| setting | default |", "|---|---|"]
        parts += [f"| `{entry.name}` | `{entry.default!r}` |" for entry in fields(kind)]
        parts.append("")
    return "\n".join(parts)


def _plain(text: str) -> str:
    """Help without rich's markup."""
    return re.sub(r"\[/?(?:dim|bold)\]", "", text)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
