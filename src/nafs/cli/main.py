"""`nafs`: the entry point. It sets the exit code, and explains an error in one line.

Ctrl-C is handled before anything heavy is imported.

Exit codes: 0 done; 1 a bug in nafs, or the reader of the output is gone; 2 bad input, a wrong option, no
space or too little memory; 130 interrupted by Ctrl-C; 143 terminated.
"""

from __future__ import annotations

import errno
import os
import signal
import sys

PROGRAM = 72 << 20  # bytes of memory that Python and the libraries of every command take
BUG, BAD_INPUT, INTERRUPTED, TERMINATED = 1, 2, 130, 143


def main(arguments: list[str] | None = None) -> None:
    """Run a command; errors become one line and an exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    signals: list[int] = []

    def note(number: int, _: object) -> None:
        signals.append(number)
        if number == signal.SIGTERM:
            sys.exit(TERMINATED)  # so that temporary files are removed
        raise KeyboardInterrupt

    try:
        signal.signal(signal.SIGTERM, note)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, note)
        code = _run([word for word in words if word != "--debug"])
        if signals:  # a library swallowed it
            code = TERMINATED if signal.SIGTERM in signals else INTERRUPTED
    except KeyboardInterrupt:
        print("interrupted; no output is half-written", file=sys.stderr)
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away
        code = 1
    except Exception as error:
        if signals:  # a library turned it into another exception, for example during its import
            print("interrupted; no output is half-written", file=sys.stderr)
            _leave(TERMINATED if signal.SIGTERM in signals else INTERRUPTED)
        if debug:
            import traceback

            traceback.print_exc()
        code = _explain(error)
    code = _flushed(code)
    if code == INTERRUPTED and arguments is None:
        _leave(code)
    sys.exit(code)


def _leave(code: int) -> None:
    """Exit after Ctrl-C with this code, which sys.exit would change if a library left the signal pending."""
    import atexit

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    atexit._run_exitfuncs()
    os._exit(code)


def _flushed(code: int) -> int:
    """Flush stdout, which may be the first write that fails; returns the exit code."""
    try:
        if sys.stdout is not None:  # it is None if the shell closed it
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would try again
        return code or (1 if isinstance(error, BrokenPipeError) else _explain(error))
    return code


def _run(words: list[str]) -> int:
    try:
        import typer

        from nafs._support.budget import counting_program
        from nafs.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        print(f"error: the command line needs {error.name}: pip install 'nafs[cli]'", file=sys.stderr)
        return BAD_INPUT

    try:
        with counting_program(PROGRAM):
            code = app(words, standalone_mode=False, prog_name="nafs")
    except typer.TyperException as error:
        show = getattr(error, "show", None)  # errors about options include the usage line
        if show is None:
            _say(str(error))
        else:
            show()
        return BAD_INPUT
    except typer.Abort:
        _say("the input ended too early")
        return BAD_INPUT
    if code == INTERRUPTED:  # how typer reports Ctrl-C
        raise KeyboardInterrupt
    return int(code or 0)


def _explain(error: Exception) -> int:
    """Print in one line what went wrong; returns the exit code."""
    from nafs._support.errors import InputError
    from nafs.cli.flags import shown

    if isinstance(error.__cause__, InputError) and not isinstance(error, InputError):
        _say(str(error))  # what a Dask worker read was bad: which task failed, and the reason
        return BAD_INPUT
    if isinstance(error, InputError):
        _say(shown(error))
        return BAD_INPUT
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        _say(f"the name {str(error.filename)[:40]}... is too long for a file or a folder")
        return BAD_INPUT
    if isinstance(error, (OSError, MemoryError)):
        _say(str(error) or "not enough memory")
        return BAD_INPUT
    _say(
        f"this is a bug in nafs, not your mistake: {type(error).__name__}: {error} "
        "(run the command again with --debug to see where, and please report it)"
    )
    return BUG


def _say(text: str) -> None:
    from nafs.cli.console import say

    say(" ".join(text.split()), "error:", "bold red")
