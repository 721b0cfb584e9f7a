"""Each package imports only from those before it in FLOW, and `import nafs` loads nothing heavy."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import nafs

PACKAGE = Path(nafs.__file__).parent
ROOT = Path(__file__).parent.parent
VAGUE_NAMES = {"found", "given", "made", "here", "taken", "so", "what", "it", "kind_of"}
FLOW = [
    "_support",
    "graph",
    "tables",
    "readers",
    "datasets",
    "smoothing",
    "structure",
    "engines",
    "clustering",
    "links",
    "selection",
    "pipeline",
    "model",
    "estimator",
    "writers",
    "similarity",
    "answers",
    "embedding",
    "node_embedder",
    "pyg",
    "tasks",
    "rivals",
    "pictures",
    "reproduce",
    "report",
    "cli",
]


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def part_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_every_package_has_a_place_in_the_order():
    parts = {part_of(path) for path in PACKAGE.rglob("*.py")} - {"__init__", "__main__"}
    assert parts == set(FLOW)


def test_the_documentation_lists_the_packages_in_this_order():
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", page, re.M) == FLOW


def test_every_package_has_its_tests():
    tests = Path(__file__).parent
    for part in FLOW:
        assert (tests / part).is_dir() or (tests / f"test_{part}.py").is_file(), f"no tests of nafs.{part}"


def test_imports_follow_the_flow():
    for path in PACKAGE.rglob("*.py"):
        part = part_of(path)
        if part in ("__init__", "__main__"):
            continue
        for module in imports_of(path):
            if module.startswith("nafs."):
                target = module.split(".")[1]
                assert FLOW.index(target) <= FLOW.index(part), f"{path} imports {module}"


def names_in(path):
    """Names that a file defines, with their lines: variables, parameters, attributes, functions, classes."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node.lineno


def test_names_say_what_they_hold():
    folders = [PACKAGE, *(ROOT / name for name in ("tools", "benchmarks", "tests", "examples"))]
    vague = [
        f"{path.relative_to(folder.parent)}:{line}: {name}"
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        for name, line in names_in(path)
        if name.strip("_") in VAGUE_NAMES
    ]
    assert not vague, f"rename after the value: {', '.join(vague)}"


def test_importing_nafs_loads_nothing_heavy():
    code = "import nafs, sys; print([m for m in ('sklearn', 'pandas', 'scipy.sparse') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_every_public_name_can_be_imported():
    assert all(hasattr(nafs, name) for name in nafs.__all__)
    assert set(nafs.__all__) <= set(dir(nafs))
    assert nafs.__version__[0].isdigit()
    assert not hasattr(nafs, "nonsense")


def test_documents_link_to_files_that_exist():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
