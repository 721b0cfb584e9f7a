"""A fingerprint of the source that computes a cell, so that a cell is measured again when its source changes.

The fingerprint covers the functions, classes and constants that a measurement uses, directly or through
others, in the parts of the package that compute something. Everything else may change without costing hours
of measuring: other definitions in the same file, docstrings, comments, annotations, layout, messages of
errors, and the names of local variables.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

# Packages that hold, read or show data do not change what is measured. Neither do structural features: every
# measured graph has features of its own.
PACKAGES = (
    "smoothing",
    "engines",
    "clustering",
    "links",
    "selection",
    "pipeline",
    "estimator",
    "embedding",
    "tasks",
    "rivals",
    "reproduce",
)
KERNEL = "nafs.smoothing", "_kernel"
NOT_COMPUTED = ("cost", "growth")  # of a rival: they say how long it takes, not what it returns
Definition = tuple[str, str]  # a module and a name in it


@lru_cache(maxsize=256)
def fingerprint(roots: tuple[str, ...]) -> str:
    """Twelve hexadecimal digits that change when the source of a measurement changes.

    Parameters
    ----------
    roots : tuple of str
        What computes it: modules as ``"nafs.rivals.gae"``, or single definitions as
        ``"nafs.rivals.judge:links"``.

    Returns
    -------
    str

    Examples
    --------
    >>> from nafs.reproduce.sources import fingerprint
    >>> len(fingerprint(("nafs.rivals.gae",)))
    12
    >>> fingerprint(("nafs.rivals.gae",)) == fingerprint(("nafs.rivals.age",))
    False
    """
    digest = hashlib.sha256()
    for module, name in sorted(used_by(roots)):
        if (module, name) == KERNEL:
            digest.update(_kernel_source())
        else:
            code = "\n".join(ast.dump(node) for node in _definitions(module)[name])
            digest.update(f"{module}:{name}\n{code}\n".encode())
    return digest.hexdigest()[:12]


def used_by(roots: Iterable[str]) -> set[Definition]:
    """The definitions that some modules or definitions use, directly or indirectly, including themselves.

    Examples
    --------
    >>> from nafs.reproduce.sources import used_by
    >>> sorted(used_by(["nafs.rivals.matrices:leading_eigenvectors"]))
    [('nafs.rivals.matrices', 'leading_eigenpairs'), ('nafs.rivals.matrices', 'leading_eigenvectors')]
    """
    waiting: list[Definition] = []
    for root in roots:
        module, _, name = root.partition(":")
        waiting += [(module, name)] if name else _all_of(module)
    seen: set[Definition] = set()
    visited: set[Definition] = set()
    while waiting:
        module, name = waiting.pop()
        if (module, name) in visited:
            continue
        visited.add((module, name))
        if (module, name) == KERNEL:
            seen.add(KERNEL)
        elif _path(f"{module}.{name}") is not None:
            waiting += _all_of(f"{module}.{name}")
        for node in _definitions(module).get(name, ()):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                seen.add((module, name))
            waiting += _references(module, node, name)
    return seen


def _references(module: str, node: ast.AST, name: str) -> Iterator[Definition]:
    """The definitions that a definition refers to: own, imported, or in modules named by strings."""
    if isinstance(node, ast.ImportFrom):
        source = node.module or ""
        yield from ((source, alias.name) for alias in node.names if (alias.asname or alias.name) == name)
        return
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield module, part.id
        elif isinstance(part, ast.ImportFrom):
            yield from ((part.module or "", alias.name) for alias in part.names)
        elif isinstance(part, ast.Import):
            yield from (definition for alias in part.names for definition in _all_of(alias.name))
        elif isinstance(part, ast.Constant) and str(part.value).startswith("nafs."):
            yield from _all_of(str(part.value))


def _all_of(module: str) -> list[Definition]:
    return [(module, name) for name in _definitions(module)]


@lru_cache(maxsize=512)
def _definitions(module: str) -> dict[str, list[ast.stmt]]:
    """The statements of a module that define each of its names; nothing for modules of other packages."""
    path = _path(module)
    return {} if path is None else definitions_of(path.read_text(encoding="utf-8"))


def definitions_of(text: str) -> dict[str, list[ast.stmt]]:
    r"""The statements that define each name of a module, without prose, annotations and names of variables.

    Examples
    --------
    >>> import ast
    >>> from nafs.reproduce.sources import definitions_of
    >>> short = definitions_of("def f(x):\n    y = 2 * x  # twice\n    return y")
    >>> long = definitions_of('def f(x: int) -> int:\n    "Say it."\n    double = 2 * x\n    return double')
    >>> ast.dump(short["f"][0]) == ast.dump(long["f"][0])
    True
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.Call):
            node.keywords = [keyword for keyword in node.keywords if keyword.arg not in NOT_COMPUTED]
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc.args, node.exc.keywords = [], []
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    definitions: dict[str, list[ast.stmt]] = {}
    for statement in _statements(tree.body):
        for name in _names(statement):
            definitions.setdefault(name, []).append(statement)
    for function in _functions(tree):
        _number_variables(function, definitions.keys())
    return definitions


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """Functions and methods, but not those inside of a function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node
        else:
            yield from _functions(node)


def _number_variables(function: ast.FunctionDef, definitions: Collection[str]) -> None:
    """Replace the names of a function's variables by numbers, in the order in which they are assigned.

    Parameters keep their names, which calls may use, and so does a variable that is named like a definition
    of the module.
    """
    nodes = list(ast.walk(function))
    kept = {node.arg for node in nodes if isinstance(node, ast.arg)}.union(definitions)
    for node in nodes:
        if isinstance(node, ast.Global | ast.Nonlocal):
            kept |= set(node.names)
    names = [node for node in nodes if isinstance(node, ast.Name) and node.id not in kept]
    assigned = dict.fromkeys(node.id for node in names if isinstance(node.ctx, ast.Store))
    numbers = {name: str(number) for number, name in enumerate(assigned)}
    for node in names:
        node.id = numbers.get(node.id, node.id)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, also those under a condition, but not those for type checkers."""
    for statement in body:
        if isinstance(statement, ast.If):
            if getattr(statement.test, "id", "") != "TYPE_CHECKING":
                yield from _statements(statement.body)
            yield from _statements(statement.orelse)
        else:
            yield statement


def _names(statement: ast.stmt) -> list[str]:
    """The names that a statement defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name for alias in statement.names]
    if isinstance(statement, ast.Assign):
        parts = [part for target in statement.targets for part in ast.walk(target)]
        return [part.id for part in parts if isinstance(part, ast.Name)]
    if isinstance(statement, ast.AnnAssign | ast.AugAssign) and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    return []


def _path(name: str) -> Path | None:
    """The file of a module, if it belongs to a package that computes something."""
    parts = name.split(".")
    if parts[0] != "nafs" or len(parts) < 2 or parts[1] not in PACKAGES:
        return None
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:  # a name imported from a module, not a module
        return None
    origin = None if spec is None else spec.origin
    return Path(origin) if origin is not None and origin.endswith(".py") else None


def _kernel_source() -> bytes:
    """The source of the C++ kernel, if it is beside the package."""
    import nafs.smoothing

    folder = Path(nafs.smoothing.__file__).parent / "kernel"
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
