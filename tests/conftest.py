"""Options and fixtures that several tests share."""

import gc
import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

# A shell starts background jobs that ignore Ctrl-C, and the commands that tests interrupt would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("nafs", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("nafs")


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run tests that take gigabytes")


def pytest_report_header():
    import nafs

    return f"nafs {nafs.__version__} in {Path(nafs.__file__).parent}"


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--slow"):
        skip = pytest.mark.skip(reason="needs minutes or gigabytes: run with --slow")
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(skip)


# What to do about a skipped test, by words in its reason.
REMEDIES = {
    "--slow": "slow: make test-slow",
    "NAFS_DATA_HOME": "without data sets: set NAFS_DATA_HOME",
    "is missing": "without data sets: set NAFS_DATA_HOME",
    "data folder": "without data sets: set NAFS_DATA_HOME",
    "torch": "without torch: .venv/bin/pip install '.[rivals]'",
    "rivals": "without torch: .venv/bin/pip install '.[rivals]'",
    "numpydoc": "without numpydoc: make docs installs it",
    "chrom": "without a browser: install chromium and chromedriver",
    "browser": "without a browser: install chromium and chromedriver",
}


def pytest_terminal_summary(terminalreporter):
    """One line about what was skipped and how to run it."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = [str(report.longrepr[2]).removeprefix("Skipped: ") for report in reports]
    counts = Counter(
        next((remedy for word, remedy in REMEDIES.items() if word in reason), reason) for reason in reasons
    )
    if counts:
        parts = "; ".join(f"{count} {remedy}" for remedy, count in counts.most_common())
        terminalreporter.write_line(f"skipped {len(reasons)}: {parts}")


@pytest.fixture(scope="session")
def data_home():
    """The folder of real data sets; without one the test is skipped."""
    home = os.environ.get("NAFS_DATA_HOME")
    if not home or not Path(home).is_dir():
        pytest.skip("NAFS_DATA_HOME is not a folder of data sets")
    return Path(home)


@pytest.fixture(scope="session")
def planetoid_home(data_home):
    folder = data_home / "planetoid"
    if not (folder / "ind.cora.x").exists():
        pytest.skip(f"{folder / 'ind.cora.x'} is missing")
    return folder


@pytest.fixture(scope="module")
def frozen():
    """Makes garbage collection, which precedes every measurement, skip the objects of the libraries."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def place(tmp_path, monkeypatch):
    from command import EDGES, FEATURES

    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text(EDGES)
    (tmp_path / "f.csv").write_text(FEATURES)
    return tmp_path


@pytest.fixture
def narrow(monkeypatch):
    """Forces panels of eight columns, even for small graphs."""
    from panel_runs import problem_of

    from nafs.engines import panel_engine
    from nafs.engines.disk import DiskEngine

    monkeypatch.setattr(panel_engine, "_FIXED", 0)
    monkeypatch.setattr(panel_engine, "PROCESS", 0)

    def limit(graph, method=None, columns=8, state_dtype="float32"):
        problem = problem_of(graph, columns, method, state_dtype=state_dtype, memory_limit=10**12)
        return DiskEngine().plan(problem).nbytes

    return limit


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """A saved graph of 60,000 nodes x 64 features: a few seconds of work."""
    from nafs.datasets import power_law

    folder = tmp_path_factory.mktemp("engines") / "graph"
    power_law(60_000, average_degree=8, n_features=64, seed=1).save(folder)
    return folder
