"""A cell's fingerprint changes with the source that computes it, and with nothing else."""

import pytest

from nafs.reproduce import sources
from nafs.reproduce.comparison import CLUSTERING, LINKS
from nafs.reproduce.sources import fingerprint, used_by
from nafs.rivals import RIVALS

FILES = {
    "rivals.one": '''
"""A rival."""
from nafs.rivals.shared import helper as help_me
from nafs.tasks import judge

RATE = 0.5


def fit(x: int) -> int:
    """Fit it."""
    from nafs.rivals.late import later

    if x < 0:
        raise ValueError(f"{x} is negative")
    part = later(x)
    parts = [help_me(RATE * x, cost=3) + extra for extra in (part, x)]

    def total():
        return sum(parts)

    return total()


def unrelated():
    return judge(1)
''',
    "rivals.shared": "SCALE = 2\ndef helper(x): return SCALE * x\ndef other(x): return x\n",
    "rivals.late": "HOME = 'nafs.rivals.named'\ndef later(x): return HOME\n",
    "rivals.named": "def work(): return 1\n",
    "tasks": "from nafs.tasks.judging import judge\nfrom nafs.tasks.judging import unused\n",
    "tasks.judging": "def judge(x): return x\ndef unused(): return 2\n",
}
FIT = ("nafs.rivals.one:fit",)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in the place of ours; returns a function that edits a file of it."""

    def path(name):
        file = tmp_path / f"{name.removeprefix('nafs.')}.py"
        return file if file.exists() else None

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        fingerprint.cache_clear()
        sources._definitions.cache_clear()

    monkeypatch.setattr(sources, "_path", path)
    for name, text in FILES.items():
        write(name, text)
    yield lambda name, old, new: write(name, FILES[name].replace(old, new))
    fingerprint.cache_clear()
    sources._definitions.cache_clear()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("rivals.one", "RATE = 0.5", "RATE = 0.6"),
        ("rivals.one", "help_me(RATE * x", "help_me(x"),
        ("rivals.one", "(part, x)", "(x, part)"),
        ("rivals.one", "x < 0", "x < 1"),
        ("rivals.one", "sum(parts)", "sum([part])"),
        ("rivals.one", "def fit(x: int)", "def fit(y: int)"),  # callers may name a parameter
        ("rivals.shared", "SCALE = 2", "SCALE = 3"),
        ("rivals.late", "return HOME", "return HOME + x"),
        ("rivals.named", "return 1", "return 2"),
    ],
)
def test_what_a_measurement_uses_changes_its_fingerprint(package, file, old, new):
    before = fingerprint(FIT)
    package(file, old, new)
    assert fingerprint(FIT) != before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("rivals.one", '"""Fit it."""', '"""Another sentence."""'),
        ("rivals.one", "RATE = 0.5", "RATE = 0.5  # a comment\n"),
        ("rivals.one", "cost=3", "cost=4"),
        ("rivals.one", "is negative", "is below 0"),
        ("rivals.one", "extra", "addend"),
        ("rivals.one", "parts", "values"),
        ("rivals.one", "(x: int) -> int", "(x: float) -> float"),
        ("rivals.one", "return judge(1)", "return judge(2)"),
        ("rivals.shared", "def other(x): return x", "def other(x): return -x"),
        ("tasks.judging", "return x", "return -x"),
    ],
)
def test_everything_else_leaves_it_alone(package, file, old, new):
    before = fingerprint(FIT)
    package(file, old, new)
    assert fingerprint(FIT) == before


def test_a_name_is_followed_through_the_package_that_passes_it_on(package):
    assert used_by(["nafs.rivals.one:unrelated"]) == {
        ("nafs.rivals.one", "unrelated"),
        ("nafs.tasks.judging", "judge"),
    }


def test_cells_of_a_rival_depend_on_it_and_on_the_head_of_their_task():
    links, clusters = (task.cells("cora", RIVALS["GAE"], 1)[0] for task in (LINKS, CLUSTERING))
    assert links.source != clusters.source
    modules = {module for module, _ in used_by(links.code)}
    assert {"nafs.rivals.gae", "nafs.rivals.pairs", "nafs.rivals.tensors", "nafs.links.splits"} <= modules
    assert not [name for name in modules if name.startswith(("nafs.clustering", "nafs.smoothing"))]
    assert "nafs.clustering.kmeans" in {module for module, _ in used_by(clusters.code)}
    assert LINKS.cells("cora", RIVALS["AGE"], 1)[0].source != links.source


def test_the_method_itself_depends_on_the_kernel():
    assert sources.KERNEL in used_by(LINKS.cells("cora", LINKS.plain_way("mean"), 1)[0].code)
