"""Which columns of an edge table hold the ends and the weight; a doubtful guess is an error.

Columns that the user does not name are found in this order:

* one pair of common names, such as source and target or sender and receiver, upper or lower case;
* without a header, the first two columns, unless the first only counts rows and others share values;
* the only pair of columns that shares values, if that can hardly be chance.

The weight is the column named weight, or the third of exactly three columns without names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from nafs._support.errors import InputError, Parameter
from nafs.graph.node_columns import USUAL_IDS, is_nameless, listed, pick
from nafs.readers.evidence import Evidence

_PAIRS = (
    *("source target", "src dst", "src dest", "from to", "u v", "s t", "i j", "head tail", "subject object"),
    *("citing cited", "citer citee", "sender receiver", "sender recipient", "payer payee", "caller callee"),
    *("follower followee", "follower followed", "parent child", "origin destination", "orig dest"),
    *("buyer seller", "referrer referred", "node neighbor", "node neighbour"),
)
_TWO_KINDS = (
    *("user item", "user movie", "user product", "user book", "user song", "user artist", "user page"),
    *("customer product", "customer item", "author paper", "actor movie", "member group", "person place"),
    *("reader book", "student course", "query document", "word document", "gene disease"),
)
_STEMS = (
    "node",
    "id",
    "user",
    "person",
    "protein",
    "gene",
    "entity",
    "vertex",
    "author",
    "member",
    "account",
)
_NUMBERED = (("1", "2"), ("a", "b"), ("0", "1"))
_DECORATIONS = (
    "",
    "id",
    "node",
    "nodeid",
    "user",
    "userid",
    "account",
    "address",
    "name",
    "key",
    "vertex",
    "page",
)
_WEIGHTS = ("weight", "w", "weights", "edgeweight")
_LABELS = ("label", "labels", "class")
_OTHERS = ("time", "timestamp", "date", "datetime", "year", "when", "created", "createdat", "type", "kind")
_SINGLE = ("source", "target", "src", "dst", "from", "to", "weight", "id", "node", "nodeid", "name", *_LABELS)
_LOOKED_AT = 12  # number of columns whose values are compared
_SAMPLE = 20_000  # rows to look at first; all rows only if these do not settle it

Look = Callable[[Sequence[str], int | None], Evidence]


@dataclass(frozen=True)
class EdgeColumns:
    """The columns of an edge table by what they mean."""

    source: str
    target: str
    weight: str | None
    two_kinds: bool = False  # ends of different kinds, such as users and items

    @property
    def all(self) -> tuple[str, ...]:
        """Their names."""
        return (self.source, self.target, *((self.weight,) if self.weight else ()))


def _key(name: str) -> str:
    """A name in lower case, without blanks and punctuation."""
    return re.sub(r"[\W_]+", "", name.lower())


def _known_pairs() -> dict[tuple[str, str], bool]:
    """Every usual pair of names, and whether its ends are of two kinds."""
    known: dict[tuple[str, str], bool] = {}
    for pairs, two_kinds in ((_PAIRS, False), (_TWO_KINDS, True)):
        for a, b in (pair.split() for pair in pairs):
            for more in _DECORATIONS:
                known[a + more, b + more] = two_kinds
    for stem in _STEMS:
        for first, second in _NUMBERED:
            known[stem + first, stem + second] = False
    return known


_KNOWN = _known_pairs()


def usual_pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of columns whose names are usual for the ends of edges.

    Examples
    --------
    >>> from nafs.readers.roles import usual_pairs
    >>> usual_pairs(["tx_id", "Sender", "RECEIVER"])
    [('Sender', 'RECEIVER')]
    """
    by_key = {_key(name): name for name in reversed(names)}
    return [(by_key[a], by_key[b]) for a, b in _KNOWN if a in by_key and b in by_key]


def names_columns(fields: Sequence[str]) -> bool:
    """Whether the fields of a first line are known as names of columns."""
    keys = [_key(field) for field in fields]
    known = [key for key in keys if key in _SINGLE or key in ("w", "u", "v", "y")]
    # A single u, v, w or y may well be the name of a node.
    return bool(usual_pairs(fields)) or len(known) > 1 or any(len(key) > 1 for key in known)


def edge_columns(
    names: Sequence[str],
    source: str | int | None,
    target: str | int | None,
    weight: str | int | Literal[False] | None,
    where: str,
    look: Look,
    *,
    named: bool = True,
) -> EdgeColumns:
    """Source, target and weight among the columns of an edge table.

    Parameters
    ----------
    names : sequence of str
    source, target, weight : str, int or None
        The user's choice, if any; ``weight=False`` ignores weights.
    where : str
        Name of the table in errors.
    look : callable
        Returns the evidence for some columns, from a number of rows or from all.
    named : bool
        Whether the table has a header.
    """
    names = [name for name in names if not is_nameless(name)]
    if len(names) < 2:
        raise InputError(
            f"{where}: found one column where an edge list needs two, source and target; if the delimiter is "
            "wrong, set ",
            Parameter("delimiter"),
        )
    first, second = pick(names, source, "source", where), pick(names, target, "target", where)
    if first is None or second is None:
        first, second = _ends(names, first, second, where, look, named)
    two_kinds = named and _KNOWN.get((_key(first), _key(second)), False)
    if weight is False:
        return EdgeColumns(first, second, None, two_kinds)
    third = pick(names, weight, "weight", where)
    others = [name for name in names if name not in (first, second)]
    if third is None and named:
        third = next((name for known in _WEIGHTS for name in others if _key(name) == known), None)
    elif third is None and len(names) == 3:
        third = others[0]
    return EdgeColumns(first, second, third, two_kinds)


def _ends(
    names: Sequence[str], first: str | None, second: str | None, where: str, look: Look, named: bool
) -> tuple[str, str]:
    fits = [
        (a, b) for a, b in (usual_pairs(names) if named else []) if first in (None, a) and second in (None, b)
    ]
    if len(fits) == 1:
        return fits[0]
    if fits:
        shown = " and ".join(f"{a!r}, {b!r}" for a, b in fits[:3])
        raise _doubt(names, where, f" (more than one pair of usual names: {shown})")
    known_end = first or second
    if known_end is not None:
        others = [name for name in names if name != known_end]
        if len(others) > 1 and named:
            others = _partners(known_end, others, look)
        elif len(others) > 1:
            others = [name for name in names[:2] if name != known_end][:1]
        if len(others) != 1:
            raise _doubt(names, where)
        return (known_end, others[0]) if first else (others[0], known_end)
    return _from_named(names, where, look) if named else _from_unnamed(names, where, look)


def _partners(known_end: str, others: Sequence[str], look: Look) -> list[str]:
    """Columns that share values with a known end, if that can hardly be chance."""
    evidence = look([known_end, *others][:_LOOKED_AT], None)
    usable = [name for name in evidence.columns if name != known_end and evidence.may_be_ends(name)]
    sharing = [name for name in usable if evidence.shared(known_end, name)]
    return [] if any(evidence.by_chance(known_end, name) for name in sharing) else sharing


def _from_unnamed(names: Sequence[str], where: str, look: Look) -> tuple[str, str]:
    first, second = names[:2]
    if len(names) == 2:
        return first, second
    for rows in (_SAMPLE, None):
        evidence = look(names[: min(len(names), 6)], rows)
        if not (evidence.may_be_ends(first) and evidence.may_be_ends(second)):
            return first, second  # refused later, with an example
        if not evidence.is_unique(first):
            return first, second
        if rows is not None and evidence.rows < rows:
            break
    alike = evidence.likeness(first, second)
    if any(evidence.likeness(*pair) > alike for pair in evidence.pairs(evidence.columns)):
        raise _doubt(names, where, ": the first only counts rows, and others share more values")
    return first, second


def _from_named(names: Sequence[str], where: str, look: Look) -> tuple[str, str]:
    own = [name for name in names if name.lower() in USUAL_IDS]
    beside = {*_WEIGHTS, *_LABELS, *_OTHERS}
    candidates = [name for name in names if _key(name) not in beside and name not in own]
    if len(names) == 2:
        candidates = list(names)
    if len(candidates) >= 2:
        evidence = look(candidates[:_LOOKED_AT], None)
        sharing = evidence.pairs(evidence.columns)
        if len(names) == 2 and all(evidence.may_be_ends(name) for name in names):
            each_once = any(evidence.is_unique(name) for name in names)
            if not each_once or (sharing and not evidence.by_chance(*names)):
                return names[0], names[1]
        elif len(sharing) == 1 and len(candidates) <= _LOOKED_AT:
            (pair,) = sharing
            if evidence.likeness(*pair) >= 0.01 and not evidence.by_chance(*pair):
                return pair
    looks = " (it looks like a table of nodes; give edges first, and it with --features or features=)"
    raise _doubt(names, where, looks if own else "")


def _doubt(names: Sequence[str], where: str, why: str = "") -> InputError:
    return InputError(
        f"{where}: cannot tell which of the columns {listed(names, 12)} hold the two ends of an edge{why}; "
        "name them with ",
        Parameter("source"),
        " and ",
        Parameter("target"),
    )


def label_name(names: Sequence[str]) -> str | None:
    """The column of labels by its usual name, if there is one."""
    return next((name for known in _LABELS for name in names if name.lower() == known), None)
