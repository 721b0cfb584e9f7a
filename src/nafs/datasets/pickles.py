"""Published pickles, read without unpickling.

Planetoid's and GraphData's files are pickles of arrays, sparse matrices and plain containers. A pickle is a
program that can call anything. This reader interprets only the few instructions that such files need, and
keeps every object as a plain record. Arrays are built at the end, from numbers whose type, shape and number
of bytes fit together. Nothing named in the file is imported or called, and no size in it is trusted.
"""

from __future__ import annotations

import math
import pickletools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nafs._support.errors import InputError
from nafs.graph.indices import check_indices

_MOST_STEPS = 5_000_000  # instructions; the largest published graph has a tenth of that
_MOST_TUPLES = 10_000  # a handful for each array
_MOST_NEIGHBORS = 50_000_000
_MOST_NODES = 1 << 27


@dataclass(eq=False)
class _Record:
    """An object of a known kind: its constructor arguments and its state."""

    kind: str
    arguments: tuple[Any, ...] = ()
    state: Any = None
    items: dict[Any, Any] | None = None


@dataclass(frozen=True)
class _Name:
    """A class or function that the file names; never looked up."""

    kind: str


_MARK = object()
_KINDS = {
    ("collections", "defaultdict"): "mapping",
    ("__builtin__", "list"): "list",
    ("builtins", "list"): "list",
    ("_codecs", "encode"): "bytes",
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): "dtype",
    ("numpy.core.multiarray", "_reconstruct"): "array",
    ("numpy._core.multiarray", "_reconstruct"): "array",
    ("scipy.sparse.csr", "csr_matrix"): "csr",
    ("scipy.sparse._csr", "csr_matrix"): "csr",
}
_NUMBER = re.compile(r"([biuf])([1248])")
_WIDTHS = {"b": "1", "i": "1248", "u": "1248", "f": "248"}


def read_pickle(path: str | Path) -> Any:
    """The records of a pickle in a file; see :func:`parse_pickle`."""
    path = Path(path)
    return parse_pickle(path.read_bytes(), str(path))


def parse_pickle(content: bytes, where: str) -> Any:
    """Numbers, text, lists, tuples, dicts and records of arrays and matrices that a pickle describes.

    Examples
    --------
    >>> import pickle
    >>> from nafs.datasets.pickles import parse_pickle
    >>> parse_pickle(pickle.dumps({0: [1, 2]}), "graph")
    {0: [1, 2]}
    """
    machine, tuples = _Machine(), 0
    try:
        for step, (instruction, argument, _) in enumerate(pickletools.genops(content)):
            tuples += instruction.name.startswith("TUPLE")
            if step > _MOST_STEPS or tuples > _MOST_TUPLES:
                raise InputError("it has more instructions or tuples than is plausible")
            if instruction.name == "STOP":
                return machine.pop()
            machine.run(instruction.name, argument)
    except InputError as error:
        raise error.at(where) from None
    except (
        ValueError,
        IndexError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise InputError(f"{where}: this pickle is damaged or of an unknown kind ({error})") from None
    raise InputError(f"{where}: this pickle does not end")


class _Machine:
    """The stack of a pickle's program, for the instructions that are known."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def pop(self) -> Any:
        value = self.stack.pop()
        if value is _MARK:
            raise InputError("its instructions do not fit together")
        return value

    def to_mark(self) -> list[Any]:
        at = len(self.stack) - 1
        while self.stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise InputError("its instructions do not fit together")
        values = self.stack[at + 1 :]
        del self.stack[at:]
        return values

    def run(self, name: str, argument: Any) -> None:
        if name in _CONSTANTS:
            self.stack.append(argument)
        elif name in _MAKERS:
            self.stack.append(_MAKERS[name](self))
        elif name in ("PROTO", "FRAME"):
            pass
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            self.memo[int(argument)] = self.top()
        elif name == "MEMOIZE":
            self.memo[len(self.memo)] = self.top()
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            self.stack.append(self.memo[int(argument)])
        elif name == "GLOBAL":
            module, _, attribute = str(argument).partition(" ")
            self.stack.append(_named(module, attribute))
        elif name in _CHANGES:
            _CHANGES[name](self)
        else:
            raise InputError(
                f"refused to read it: the instruction {name} is not needed for arrays and containers"
            )

    def append(self) -> None:
        value = self.pop()
        self.as_list().append(value)

    def extend(self) -> None:
        values = self.to_mark()
        self.as_list().extend(values)

    def set_item(self) -> None:
        value, key = self.pop(), self.pop()
        self.as_dict()[_key(key)] = value

    def set_items(self) -> None:
        pairs = _pairs(self)
        self.as_dict().update(pairs)

    def build(self) -> None:
        state, record = self.pop(), self.top()
        if not isinstance(record, _Record):
            raise InputError("it sets the state of something that has none")
        record.state = state

    def top(self) -> Any:
        value = self.stack[-1]
        if value is _MARK:
            raise InputError("its instructions do not fit together")
        return value

    def as_list(self) -> list[Any]:
        value = self.top()
        if not isinstance(value, list):
            raise InputError("it appends to something that is not a list")
        return value

    def as_dict(self) -> dict[Any, Any]:
        value = self.top()
        if isinstance(value, _Record) and value.kind == "mapping":
            value.items = {} if value.items is None else value.items
            return value.items
        if not isinstance(value, dict):
            raise InputError("it sets items of something that is not a mapping")
        return value

    def reduce(self) -> Any:
        arguments, name = self.pop(), self.pop()
        if not isinstance(name, _Name) or not isinstance(arguments, tuple):
            raise InputError("refused to read it: it calls an unknown name")
        if name.kind == "bytes":
            if len(arguments) != 2 or not isinstance(arguments[0], str) or arguments[1] != "latin1":
                raise InputError("it encodes text in an unknown way")
            return arguments[0].encode("latin-1")
        return _Record(name.kind, arguments)


def _tuple(count: int) -> Callable[[_Machine], Any]:
    def make(machine: _Machine) -> Any:
        values = [machine.pop() for _ in range(count)]
        return tuple(reversed(values))

    return make


def _stack_name(machine: _Machine) -> _Name:
    attribute, module = machine.pop(), machine.pop()
    return _named(str(module), str(attribute))


def _pairs(machine: _Machine) -> dict[Any, Any]:
    values = machine.to_mark()
    return dict(zip(map(_key, values[::2]), values[1::2], strict=True))


_CONSTANTS = frozenset(
    [
        *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
        *("STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
        *("UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"),
    ]
)
_MAKERS: dict[str, Callable[[_Machine], Any]] = {
    "NONE": lambda _: None,
    "NEWTRUE": lambda _: True,
    "NEWFALSE": lambda _: False,
    "MARK": lambda _: _MARK,
    "EMPTY_LIST": lambda _: [],
    "EMPTY_DICT": lambda _: {},
    "EMPTY_TUPLE": lambda _: (),
    "LIST": lambda machine: machine.to_mark(),
    "TUPLE": lambda machine: tuple(machine.to_mark()),
    "TUPLE1": _tuple(1),
    "TUPLE2": _tuple(2),
    "TUPLE3": _tuple(3),
    "DICT": _pairs,
    "STACK_GLOBAL": _stack_name,
    "REDUCE": _Machine.reduce,
    "NEWOBJ": _Machine.reduce,
}


_CHANGES: dict[str, Callable[[_Machine], None]] = {
    "APPEND": _Machine.append,
    "APPENDS": _Machine.extend,
    "SETITEM": _Machine.set_item,
    "SETITEMS": _Machine.set_items,
    "BUILD": _Machine.build,
}


def _named(module: str, attribute: str) -> _Name:
    kind = _KINDS.get((module, attribute))
    if kind is None:
        raise InputError(
            f"refused to load {module[:60]}.{attribute[:60]}: only arrays, sparse matrices and plain "
            "containers are read"
        )
    return _Name(kind)


def _key(value: Any) -> int | str:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise InputError("it has a mapping whose keys are neither whole numbers nor text")
    return value


def as_matrix(value: Any, where: str) -> Any:
    """The array or the CSR matrix that a record describes.

    Parameters
    ----------
    value : record
        A result of :func:`parse_pickle`; a single one inside an array of objects is unwrapped.
    where : str
        Name of the file in errors.
    """
    try:
        if isinstance(value, _Record) and value.kind == "csr":
            return _csr(value, where)
        if isinstance(value, _Record) and value.kind == "array" and _type_name(value).startswith("O"):
            shape, content = value.state[1], value.state[4]
            if shape not in ((), (1,)) or not isinstance(content, list) or len(content) != 1:
                raise InputError("an array of more than one object")
            inner = content[0]
            if isinstance(inner, _Record) and inner.kind == "array" and _type_name(inner).startswith("O"):
                raise InputError("an array of objects inside another")
            return as_matrix(inner, where)
        if isinstance(value, _Record) and value.kind == "array":
            return _array(value)
    except InputError as error:
        raise error.at(where) from None
    except (IndexError, KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InputError(f"{where}: an array does not fit together ({error})") from None
    raise InputError(f"{where}: found {type(value).__name__} where an array or a CSR matrix is expected")


def as_neighbors(value: Any, where: str) -> list[list[int]]:
    """Lists of neighbours for nodes 0..n-1, from a mapping."""
    items = value.items if isinstance(value, _Record) and value.kind == "mapping" else value
    if not isinstance(items, dict) or not items or len(items) > _MOST_NODES:
        raise InputError(f"{where}: found {type(value).__name__} where lists of neighbours are expected")
    n = len(items)
    lists = [items.get(i) for i in range(n)]
    total = 0
    for i, neighbors in enumerate(lists):
        if not isinstance(neighbors, list):
            raise InputError(f"{where}: node {i} of {n} has no list of neighbours")
        total += len(neighbors)
        if total > _MOST_NEIGHBORS:
            raise InputError(f"{where}: it has more neighbours than is plausible")
        if not all(type(node) is int and 0 <= node < n for node in neighbors):
            raise InputError(f"{where}: a neighbour of node {i} is not one of the nodes 0..{n - 1}")
    return lists  # type: ignore[return-value]


def _type_name(record: _Record) -> str:
    dtype = record.state[2]
    if not isinstance(dtype, _Record) or dtype.kind != "dtype":
        raise InputError("an array without a type")
    name = dtype.arguments[0]
    if not isinstance(name, str):
        raise InputError("an array of a type that is not read")
    return name


def _array(record: _Record) -> NDArray[Any]:
    """An array from its state: version, shape, type, order and bytes."""
    _, shape, dtype, fortran, content = record.state
    match = _NUMBER.fullmatch(_type_name(record))
    if match is None or match[2] not in _WIDTHS[match[1]]:
        raise InputError(f"an array of {_type_name(record)[:20]!r}: only plain numbers are read")
    order = dtype.state[1] if isinstance(dtype.state, tuple) and len(dtype.state) > 1 else "|"
    if order not in ("<", ">", "|", "="):
        raise InputError("an array whose order of bytes is unknown")
    if (
        not isinstance(shape, tuple)
        or len(shape) > 2
        or not all(type(size) is int and size >= 0 for size in shape)
    ):
        raise InputError("an array of an impossible shape")
    if isinstance(content, str):  # how Python 2 wrote bytes
        content = content.encode("latin-1")
    if not isinstance(content, bytes) or len(content) != math.prod(shape) * int(match[2]):
        raise InputError("an array whose bytes do not fit its shape")
    numbers = np.frombuffer(content, f"{order}{match[1]}{match[2]}")
    return numbers.reshape(shape, order="F" if fortran is True else "C")


def _csr(record: _Record, where: str) -> Any:
    state = record.state
    if not isinstance(state, dict):
        raise InputError("a sparse matrix without its arrays")
    shape = state.get("_shape", state.get("shape"))
    if not isinstance(shape, tuple) or len(shape) != 2 or not all(type(size) is int for size in shape):
        raise InputError("a sparse matrix of an impossible shape")
    data, indices, indptr = (_array(state[name]) for name in ("data", "indices", "indptr"))
    if indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu" or len(indptr) != shape[0] + 1:
        raise InputError("a sparse matrix whose arrays do not fit together")
    if not 0 <= shape[1] < 2**31 or len(data) != len(indices):
        raise InputError("a sparse matrix whose arrays do not fit together")
    matrix = sp.csr_array((data, indices, indptr), shape=shape)
    check_indices(matrix, where)
    return matrix
