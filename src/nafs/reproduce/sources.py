"""A fingerprint of the source that computes a cell, so that cells are measured again when it changes.

Starting from some modules, imports are followed through the packages that compute something. The syntax tree
without docstrings counts: a change of prose or layout does not cost hours of measuring.
"""

from __future__ import annotations

import ast
import hashlib
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

# A package that holds, reads or shows data does not change what is measured.
PACKAGES = (
    "smoothing",
    "structure",
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


@lru_cache(maxsize=64)
def fingerprint(modules: tuple[str, ...]) -> str:
    """Twelve hexadecimal digits that change when those modules, or what they import, change.

    Examples
    --------
    >>> from nafs.reproduce.sources import fingerprint
    >>> len(fingerprint(("nafs.rivals.gae",)))
    12
    >>> fingerprint(("nafs.rivals.gae",)) == fingerprint(("nafs.rivals.age",))
    False
    """
    digest = hashlib.sha256()
    waiting, seen = sorted(modules), set[str]()
    while waiting:
        name = waiting.pop()
        path = _path(name)
        if name in seen or path is None:
            continue
        seen.add(name)
        waiting += sorted(_imports(path))
    for name in sorted(seen):
        path = _path(name)
        assert path is not None
        digest.update(f"{name}\n{code_of(path.read_text(encoding='utf-8'))}\n".encode())
    if "nafs.smoothing" in seen or any(name.startswith("nafs.smoothing.") for name in seen):
        digest.update(_kernel())
    return digest.hexdigest()[:12]


def code_of(text: str) -> str:
    r"""The syntax tree of a module without docstrings, comments and layout.

    Examples
    --------
    >>> from nafs.reproduce.sources import code_of
    >>> code_of('def f():\n    "Say it."\n    return 1') == code_of("def f(): return 1  # one")
    True
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:]
    return ast.dump(tree)


def _path(name: str) -> Path | None:
    parts = name.split(".")
    if parts[0] != "nafs" or len(parts) < 2 or parts[1] not in PACKAGES:
        return None
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:  # a name imported from a module, not a module
        return None
    origin = None if spec is None else spec.origin
    return Path(origin) if origin is not None and origin.endswith(".py") else None


def _imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name for name in names if name.startswith("nafs.")}


def _kernel() -> bytes:
    """The sources of the C++ kernel, where they are beside the package."""
    import nafs.smoothing

    folder = Path(nafs.smoothing.__file__).parent / "kernel"
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
