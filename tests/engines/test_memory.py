"""Memory is estimated before it is used, and a limit is kept."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from panel_runs import problem_of
from random_graphs import random_graph

from nafs import NAFS
from nafs._support.budget import parse_memory, show_bytes
from nafs.engines.memory import MemoryEngine
from nafs.graph import Adjacency, read_adjacency
from nafs.smoothing import Method


def plan(*arguments, **options):
    return MemoryEngine().plan(problem_of(*arguments, **options))


# Measures the growth of the process's peak while fitting. The first fit, on a tiny graph, pays for
# imports, the thread pool and so on.
MEASURE = """
import sys
import numpy as np, scipy.sparse as sp
from nafs import NAFS

def peak():
    # Not getrusage(): that starts a child at its parent's peak.
    (line,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024

n, f = 200_000, 64
rng = np.random.default_rng(0)
ring = np.arange(n)
rows = np.concatenate([ring, ring, ring, ring])
columns = np.concatenate([(ring + step) % n for step in (1, -1, 7, -7)])
A = sp.csr_array((np.ones(4 * n, np.int8), (rows, columns)), shape=(n, n))
X = rng.random((n, f), dtype=np.float32)
del rows, columns, ring
settings = eval(sys.argv[1])
NAFS(**settings).fit_transform(X[:50], adjacency=A[:50, :50])
before = peak()
model = NAFS(**settings).fit(X, adjacency=A)
print((peak() - before) / X.nbytes)
"""


def growth(**settings):
    """Peak memory above the inputs, in units of the feature matrix."""
    settings["directed"] = False
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, repr(settings)], capture_output=True, text=True, check=True
    )
    return float(run.stdout)


def test_the_mean_needs_less_than_five_matrices():
    assert growth(n_hops=3) < 5


def test_float16_states_need_one_matrix_less():
    assert growth(n_hops=3, state_dtype="float16") < 4


@pytest.mark.parametrize("matrices", [6, 8, 12])
def test_a_limit_is_used_and_kept(matrices):
    nbytes = 200_000 * 64 * 4  # two r's fit side by side in eight matrices
    used = growth(n_hops=3, memory_limit=matrices * nbytes)
    assert used < matrices
    assert (used > 5) == (matrices >= 8)


# The smallest limit that the plan admits, on shapes where the small arrays weigh more than the states.
TIGHT = """
import sys
from pathlib import Path
import numpy as np
from nafs import NAFS
from nafs.engines.base import FeatureSize, Problem
from nafs.engines.memory import MemoryEngine
from nafs.graph import Adjacency
from nafs.smoothing import Method

def peak():
    (line,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024

n, f, degree, dtype, distance = eval(sys.argv[1])
steps = np.arange(1, degree + 1, dtype=np.int32)
indices = np.empty((n, degree), np.int32)
for i in range(n):
    indices[i] = (i + steps - (degree // 2) - (steps <= degree // 2)) % n
indices.sort(axis=1)
graph = Adjacency(np.arange(n + 1, dtype=np.int64) * degree, indices.ravel())
X = np.random.default_rng(0).random((n, f)).astype(dtype)
NAFS(3, distance=distance).fit(X[:50], adjacency=Adjacency(np.zeros(51, np.int64), np.zeros(0, np.int32)))
held = 0 if dtype == "float32" else X.nbytes // 2
problem = Problem(graph, FeatureSize(f, 4 * n * f), Method(3, distance=distance), held=held)
limit = MemoryEngine().plan(problem).nbytes
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = peak()
NAFS(3, distance=distance, memory_limit=limit).fit(X, adjacency=graph)
print((peak() - before) / limit)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="measures through /proc")
@pytest.mark.parametrize(
    "shape",
    [
        (100_000, 64, 4, "float32", "cosine"),
        (100_000, 64, 4, "float64", "cosine"),
        (200_000, 8, 30, "float32", "cosine"),
        (8_000, 500, 30, "float32", "cosine"),  # a few columns at a time
        (200_000, 1, 30, "float32", "cosine"),
        (200_000, 16, 0, "float32", "euclidean"),
    ],
)
def test_the_smallest_limit_is_kept_on_odd_shapes(shape):
    run = subprocess.run(
        [sys.executable, "-c", TIGHT, repr(shape)], capture_output=True, text=True, check=True
    )
    assert 0.3 < float(run.stdout) <= 1.02  # resident memory comes in pages


def test_a_limit_decides_how_many_r_go_side_by_side():
    n = 500_000
    graph = Adjacency(np.zeros(n + 1, np.int64), np.zeros(0, np.int32))
    single = plan(graph, 20, Method())
    assert single.group == 1
    assert plan(graph, 20, Method(), memory_limit=single.nbytes).group == 1
    groups = [plan(graph, 20, Method(), memory_limit=k * single.nbytes).group for k in range(1, 9)]
    assert groups == sorted(groups)
    assert groups[-1] == 6
    assert plan(graph, 128, Method(), memory_limit=10**12).group == 1, "rows are long enough"
    assert plan(graph, 2, Method(), memory_limit=10**12).group == 1, "it lives in the cache"


def test_a_run_that_cannot_fit_raises_before_it_starts():
    A, X = random_graph(0)
    A = read_adjacency(A)
    with pytest.raises(MemoryError, match=r"needs .* besides its inputs, more than .* 1 kB"):
        NAFS(memory_limit="1kB").fit(X, adjacency=A)
    with pytest.raises(MemoryError, match="float16"):
        NAFS(memory_limit=1000).sweep(X, adjacency=A)


def test_reading_the_graph_stays_within_the_limit_or_raises():
    n, f = 50_000, 1
    ring = np.arange(n)
    columns = np.concatenate([(ring + step) % n for step in range(1, 31)])
    A = sp.coo_array((np.full(len(columns), 0.5, np.float32), (np.tile(ring, 30), columns)), shape=(n, n))
    X = np.ones((n, f), np.float32)
    with pytest.raises(
        MemoryError, match=r"canonical form may need 116 MB, more than the memory_limit of 60 MB"
    ):
        NAFS(2, memory_limit="60MB", directed=False).fit(X, adjacency=A)
    NAFS(2, memory_limit="60MB").fit(X, adjacency=read_adjacency(A, directed=False))


def test_copies_of_the_inputs_count():
    A, X = random_graph(0, 500, n_features=64)
    graph = read_adjacency(A)
    exact = plan(graph, 64, Method(), held=X.astype(np.float32).nbytes).nbytes
    NAFS(memory_limit=exact).fit(X, adjacency=graph)  # a float64 X is copied
    with pytest.raises(MemoryError):
        NAFS(memory_limit=exact - 1).fit(X, adjacency=graph)
    NAFS(memory_limit=exact - 1).fit(X.astype(np.float32), adjacency=graph)


def test_a_finished_sweep_holds_only_what_the_caller_keeps():
    A, X = random_graph(0)
    kept = [Z for K, Z in NAFS(9).sweep(X, adjacency=A) if K == 3]
    assert kept[0].base.pool.spare == []


def test_the_estimate_counts_the_result_and_the_states():
    graph = read_adjacency(np.zeros((1000, 1000)))
    matrix = 1000 * 64 * 4
    small = 1000 * (4 * 12 + 16)
    assert plan(graph, 64, Method()).nbytes == 4 * matrix + small
    assert plan(graph, 64, Method(), state_dtype="float16").nbytes == 3 * matrix + small
    assert plan(graph, 64, Method(weighting="last")).nbytes == 3 * matrix + small
    assert plan(graph, 64, Method(ensemble="concat")).nbytes == 9 * matrix + small


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (None, None),
        (7, 7),
        ("7", 7),
        (2e9, 2 * 10**9),
        ("2kB", 2000),
        ("2KiB", 2048),
        ("0.5g", 500_000_000),
        ("1TB", 10**12),
    ],
)
def test_valid_limits(limit, expected):
    assert parse_memory(limit) == expected


@pytest.mark.parametrize("limit", ["", "GB", "4 XB", "-4GB", "4ib", "0"])
def test_invalid_limits(limit):
    with pytest.raises(ValueError, match="memory_limit"):
        parse_memory(limit)


@pytest.mark.parametrize(("size", "text"), [(5, "5 B"), (1500, "1.5 kB"), (2 * 10**12, "2 TB")])
def test_formatted_sizes(size, text):
    assert show_bytes(size) == text


def test_reduced_features_count_when_they_are_held():
    # 24 MB of features, 24 MB prepared, 1.3 MB reduced, 13 MB to find the directions: the engine starts when
    # the prepared copy is gone.
    A = sp.csr_array((20_000, 20_000))
    X = np.random.default_rng(0).random((20_000, 300), dtype=np.float32)
    settings = {"preprocessing": "l2", "dim": 16, "r": 0.5, "engine": "memory"}
    assert NAFS(2, memory_limit="39MB", **settings).fit_transform(X, adjacency=A).shape == (20_000, 16)
    with pytest.raises(MemoryError, match=r"reducing the features needs 38\.6 MB, .* of 38 MB; raise"):
        NAFS(2, memory_limit="38MB", **settings).fit(X, adjacency=A)


# Sparse features that are copied in the order of the nodes, for which their positions are needed too.
SPARSE = """
from pathlib import Path
import numpy as np, scipy.sparse as sp
from nafs.engines.resources import Resources
from nafs.engines.base import FeatureSize, Problem
from nafs.engines.memory import MemoryEngine
from nafs.graph import Adjacency, Features, read_features
from nafs.smoothing import Method

def peak():
    (line,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024

n, f, entries = 100_000, 300, 74
rng = np.random.default_rng(0)
steps = np.array([-2, -1, 1, 2])
indices = np.sort((np.arange(n)[:, None] + steps) % n, axis=1).astype(np.int32)
graph = Adjacency(np.arange(n + 1, dtype=np.int64) * 4, indices.ravel())
columns = (np.arange(entries) * 4 + np.arange(n)[:, None] % 4).astype(np.int32)
values = rng.random(n * entries, dtype=np.float32)
arrays = {"a": np.arange(n + 1, dtype=np.int64) * entries, "b": columns.ravel(), "c": values}
features = Features.from_arrays(arrays, (n, f))
engine = MemoryEngine()
small = read_features(np.eye(3, dtype=np.float32))
tiny = Problem(Adjacency(np.zeros(4, np.int64), np.zeros(0, np.int32)), FeatureSize.of(small), Method(3))
engine.run(tiny, engine.plan(tiny), small)
def problem(limit):
    resources = Resources(memory_limit=limit, n_threads=2)
    return Problem(graph, FeatureSize.of(features), Method(11, r=(0.5,)), resources)
plan = engine.plan(problem(engine.plan(problem(None)).nbytes))
assert plan.ordered and plan.arranged == n, plan
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = peak()
engine.run(problem(plan.nbytes), plan, features)
print((peak() - before) / plan.nbytes)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="measures through /proc")
def test_copies_of_sparse_features_stay_within_the_limit():
    run = subprocess.run([sys.executable, "-c", SPARSE], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert 0.3 < float(run.stdout) <= 1.02
