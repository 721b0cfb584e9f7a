"""Text that is safe to show on a terminal."""

from __future__ import annotations

import unicodedata

_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")  # controls, formats, surrogates, private, line ends
_JOINERS = "\u200c\u200d"  # within words of some scripts, and within emoji


def printable(text: str, keep: str = "") -> str:
    r"""The text with control and format characters spelled out, as Python writes them.

    An id such as ``"\x1b[2J"`` would otherwise clear the screen, and one with a right-to-left override would
    look like another id.

    Parameters
    ----------
    text : str
    keep : str
        Characters that stay as they are, such as a line feed.

    Examples
    --------
    >>> from nafs._support.printable import printable
    >>> print(printable("a\x1b[31mb, caf\u00e9 \u202e"))
    a\x1b[31mb, café \u202e
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        sign
        if sign in keep or sign in _JOINERS or unicodedata.category(sign) not in _HIDDEN
        else _spelled(sign)
        for sign in text
    )


def _spelled(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")
