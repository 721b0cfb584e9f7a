"""`nafs`: the commands, and what a person sees when something goes wrong."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Annotated

import typer

from nafs.cli import convert, demo, describe, embed, plan
from nafs.cli.console import messages

BAD_INPUT, INTERRUPTED = 2, 130
_OPTIONS = {  # what Python calls it, and the command line
    "state_dtype='float16'": "--float16",
    "ensemble=": "--ensemble ",
    "memory_limit": "--memory-limit",
    "n_threads": "--threads",
    "n_hops": "--hops",
}

app = typer.Typer(
    name="nafs",
    help="""Node embeddings without training: smooth node features over the graph.

    [bold]nafs embed edges.csv --features features.csv -o embedding.parquet[/bold]
    """,
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(name="embed")(embed.embed)
app.command(name="plan")(plan.plan)
app.command(name="describe")(describe.describe)
app.command(name="convert")(convert.convert)
app.command(name="demo")(demo.demo)


def _version(wanted: bool) -> None:
    if wanted:
        import nafs

        print(f"nafs {nafs.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options that any command takes; ``main`` looks at --debug itself."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command; errors become one line and an exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    try:
        code = app(words, standalone_mode=False, prog_name="nafs")
        if code == INTERRUPTED:  # how typer tells of Ctrl-C
            raise KeyboardInterrupt
    except typer.TyperException as error:
        code = _usage(error)
    except KeyboardInterrupt:
        messages.print("interrupted; nothing was written", style="yellow")
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except Exception as error:
        if debug:
            traceback.print_exc()
        expected = isinstance(error, (ValueError, TypeError, OSError, MemoryError, ImportError))
        code = _say(error, BAD_INPUT if expected else 1)
    sys.exit(code or 0)


def _usage(error: typer.TyperException) -> int:
    show = getattr(error, "show", None)  # with the usage line, where it is about the options
    if show is None:
        return _say(error, BAD_INPUT)
    show()
    return BAD_INPUT


def _say(error: Exception, code: int) -> int:
    text = " ".join(str(error).split()) or type(error).__name__
    for name, option in _OPTIONS.items():
        text = text.replace(name, option)
    if code != BAD_INPUT:
        text = f"unexpected {type(error).__name__}: {text} (--debug shows where)"
    messages.print("error:", style="bold red", end=" ")
    messages.print(text, markup=False, highlight=False, soft_wrap=True)
    return code
