"""`nafs`: what a person sees when a command ends, well or not.

Nothing heavy is imported before Ctrl-C is taken care of.
"""

from __future__ import annotations

import os
import signal
import sys

BAD_INPUT, INTERRUPTED, TERMINATED = 2, 130, 143
_OPTIONS = {  # what Python calls it, and the command line
    "state_dtype='float16'": "--float16",
    "ensemble=": "--ensemble ",
    "memory_limit": "--memory-limit",
    "n_threads": "--threads",
    "n_hops": "--hops",
}


def main(arguments: list[str] | None = None) -> None:
    """Run a command; errors become one line and an exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    try:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # so that temporary files go
        code = _run([word for word in words if word != "--debug"])
    except KeyboardInterrupt:
        print("interrupted; no output is half-written", file=sys.stderr)
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away
        code = 1
    except Exception as error:
        if debug:
            import traceback

            traceback.print_exc()
        expected = isinstance(error, (ValueError, TypeError, OSError, MemoryError, ImportError))
        code = _say(error, BAD_INPUT if expected else 1)
    sys.exit(_flushed(code))


def _flushed(code: int) -> int:
    """Write out what is left of the output, which may fail only now; the code to end with."""
    try:
        if sys.stdout is not None:  # as it is where the shell closed it
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would try again
        return code or (1 if isinstance(error, BrokenPipeError) else _say(error, BAD_INPUT))
    return code


def _run(words: list[str]) -> int:
    import typer

    from nafs.cli.app import app

    try:
        code = app(words, standalone_mode=False, prog_name="nafs")
    except typer.TyperException as error:
        show = getattr(error, "show", None)  # with the usage line, where it is about the options
        if show is None:
            return _say(error, BAD_INPUT)
        show()
        return BAD_INPUT
    except typer.Abort:
        raise ValueError("the input ended before it was whole") from None
    if code == INTERRUPTED:  # how typer tells of Ctrl-C
        raise KeyboardInterrupt
    return int(code or 0)


def _say(error: Exception, code: int) -> int:
    from nafs.cli.console import messages

    text = " ".join(str(error).split()) or type(error).__name__
    for name, option in _OPTIONS.items():
        text = text.replace(name, option)
    if code != BAD_INPUT:
        text = f"unexpected {type(error).__name__}: {text} (--debug shows where)"
    messages.print("error:", style="bold red", end=" ")
    messages.print(text, markup=False, highlight=False, soft_wrap=not messages.is_terminal)
    return code
