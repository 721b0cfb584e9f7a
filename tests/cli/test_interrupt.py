"""Ctrl-C stops a run at once and leaves nothing running; fork stays safe."""

import multiprocessing
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from random_graphs import random_graph

from nafs import NAFS
from nafs.cli.console import Run
from nafs.cli.main import main

INTERRUPTED = """
import os, signal, time
import numpy as np, scipy.sparse as sp
from nafs import NAFS

n, f = 300_000, 128
rng = np.random.default_rng(0)
A = sp.csr_array((np.ones(20 * n, np.int8), rng.integers(0, n, 20 * n, dtype=np.int32),
                  np.arange(0, 20 * n + 1, 20)), shape=(n, n))
X = rng.random((n, f), dtype=np.float32)
tasks = lambda: len(os.listdir("/proc/self/task"))
idle = tasks()  # pandas, where scikit-learn finds it, brings a thread of pyarrow's
NAFS(1, n_threads=2).fit(X[:10], adjacency=A[:10, :10])
before = tasks()
sent = []

def interrupt(step):
    if step.hop == 1 and not sent:
        # From outside the callback, while the kernel is in the middle of the next block.
        if os.fork() == 0:
            time.sleep(0.05)
            os.kill(os.getppid(), signal.SIGINT)
            os._exit(0)
        sent.append(time.perf_counter() + 0.05)

try:
    NAFS(1000, n_threads=2, directed=True).fit(X, adjacency=A, progress=interrupt)
except KeyboardInterrupt:
    print(time.perf_counter() - sent[0], idle, before, tasks())
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads in /proc")
def test_an_interrupt_stops_the_run_and_its_threads():
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # its pool is not ours to count
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    waited, idle, before, after = run.stdout.split()
    assert float(waited) < 1.0
    assert before == after == idle


def _embed_in_child(queue):
    A, X = random_graph(0)
    queue.put(NAFS(3, n_threads=2).fit_transform(X, adjacency=A))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_can_embed_too():
    A, X = random_graph(0)
    in_parent = NAFS(3, n_threads=2).fit_transform(X, adjacency=A)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_embed_in_child, args=(queue,))
    child.start()
    in_child = queue.get(timeout=60)
    child.join(timeout=60)
    assert np.array_equal(in_parent, in_child)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_in_the_middle_of_a_run_can_embed_too():
    A, X = random_graph(0)
    context = multiprocessing.get_context("fork")

    def embed_in_child():
        queue = context.Queue()
        child = context.Process(target=_embed_in_child, args=(queue,))
        child.start()
        assert queue.get(timeout=60).shape == X.shape
        child.join(timeout=60)

    for K, _ in NAFS(3, n_threads=2).sweep(X, adjacency=A):
        if K == 2:
            embed_in_child()
    NAFS(3, 0.5, n_threads=2).fit(X, adjacency=A, progress=lambda step: step.hop == 1 and embed_in_child())


@pytest.mark.parametrize(
    ("number", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)]
)
def test_a_signal_that_a_library_swallows_ends_the_stage(number, raised):
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with pytest.raises(raised), Run(quiet=True).stage("work"), suppress(BaseException):
            signal.raise_signal(number)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_signal_that_is_swallowed_outside_of_a_stage_sets_the_exit_code(monkeypatch):
    def run(_):
        with suppress(BaseException):
            signal.raise_signal(signal.SIGTERM)
        return 0

    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    monkeypatch.setattr("nafs.cli.main._run", run)
    try:
        with pytest.raises(SystemExit) as ended:
            main([])
    finally:
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(number, handler)
    assert ended.value.code == 143
