"""The Dask engine: panels as futures on machines that share a folder.

Workers read the graph and their panel from the folder and write their results into it; only file names pass
through the scheduler. If a worker is lost, another one repeats its task with bit-identical results. If there
are as many workers as panels, each panel has its own, which keeps the state between two rounds of hops.
"""

from __future__ import annotations

import logging
import os
import platform
import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from nafs._support.errors import MissingExtraError
from nafs._support.mapped import mapped_file
from nafs._support.npy import load_npy
from nafs.engines.base import Problem
from nafs.engines.columns import ColumnPanels
from nafs.engines.dask_watch import LOOK, Watch, workers_of
from nafs.engines.panel_engine import Executor, PanelEngine
from nafs.engines.panels import Panels, Task, drop_parts, dropping, list_tasks, missing, results_of
from nafs.engines.progress import Report, count_hops
from nafs.engines.work import WorkFolder
from nafs.graph import Adjacency
from nafs.smoothing.method import Method

COMEBACK = 5.0  # seconds that a lost worker has to be replaced by another one
FAREWELL = 10.0  # seconds that workers have to clear their caches
_RETRIES = 3
_SECONDS = 10  # timeout for reaching a scheduler
_log = logging.getLogger("nafs")
_BUSY = threading.Lock()  # tasks of one process share their states, so they must not overlap


class DaskEngine(PanelEngine):
    """Panels on the workers of a Dask cluster."""

    name = "dask"
    all_in_files = True

    def workers(self, problem: Problem) -> tuple[int, bool]:
        """Number of workers of the cluster. Workers that we start ourselves share the memory limit."""
        if problem.client is None and _default_client() is None:
            return problem.resources.threads, True
        with _connected(problem.client, problem.resources.threads) as (client, _):
            return max(1, len(workers_of(client))), False

    @contextmanager
    def executor(self, problem: Problem) -> Iterator[Executor]:
        """An executor that submits tasks as futures."""
        with _connected(problem.client, problem.resources.threads) as (client, _):
            yield _Futures(client)


@dataclass(frozen=True)
class WorkerJob:
    """What a worker needs to know to run a task; small, since it is sent with each."""

    folder: str
    token: str
    graph: tuple[tuple[str, str], ...]  # name and file of each array
    directed: bool
    method: Method
    widths: tuple[int, ...]
    largest: float
    sparse: bool
    state_dtype: str


class _Futures:
    """Runs tasks on the workers of a client."""

    def __init__(self, client: Any) -> None:
        self.client, self.places = client, 1
        self.token: str | None = secrets.token_hex(8)

    def prepare(self, problem: Problem, work: WorkFolder, columns: ColumnPanels) -> None:
        """Write the graph to files, and check that all workers can read them."""
        self._method, self._n_panels, self._work = problem.method, len(columns.widths), work
        self._job = WorkerJob(
            str(work.path),
            str(self.token),
            _shared(problem, work),
            problem.graph.directed,
            problem.method,
            columns.widths,
            columns.largest,
            columns.sparse,
            problem.resources.state_dtype,
        )
        self.places = _check_workers(self.client, self._job)

    def run(self, due: list[Task], report: Report) -> None:
        """Run each task once the arrays that it needs exist."""
        try:
            try:
                self._run(due, report)
            except _TooFewWorkersError:
                _log.warning(
                    "a worker was lost and none is free for its panel: the rest of the run takes two passes"
                )
                again = self._in_two_passes()
                report.total = report.done + report.n_nodes * count_hops(again)
                self._run(again, report)
        finally:
            # A stopped worker would never answer: this is no reason to wait for it.
            clearing = threading.Thread(target=self._clear_caches, daemon=True)
            clearing.start()
            clearing.join(FAREWELL)

    def _run(self, due: list[Task], report: Report) -> None:
        drop = dropping(due, self._work)

        def finished(task: Task) -> None:
            _report_finished(report, task, self._method, self._n_panels)
            drop(task)

        _submit(self.client, self._job, due, finished)

    def _in_two_passes(self) -> list[Task]:
        """Tasks for the rest of a run in rounds; finished results of earlier r's are kept."""
        drop_parts(self._work)
        results = results_of(self._method, self._n_panels)
        return missing(list_tasks(self._method, self._n_panels), results, self._work)

    def _clear_caches(self) -> None:
        with suppress(Exception):  # a lost worker has no cache to clear
            self.client.run(_panels.cache_clear)


class _TooFewWorkersError(Exception):
    """A run in rounds has fewer workers than panels."""


class _Homes:
    """Which worker keeps the state of which panel."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.workers: dict[int, str] = {}  # of each panel

    def options(self, task: Task) -> dict[str, Any]:
        """Where to submit a task: to its panel's worker or, if that is gone, to one without a panel."""
        if task.kind not in ("step", "finish"):
            return {}
        end = time.monotonic() + COMEBACK
        while self.workers.get(task.panel) not in (alive := workers_of(self.client)):
            others = {worker for panel, worker in self.workers.items() if panel != task.panel}
            if free := sorted(set(alive) - others):
                self.workers[task.panel] = free[0]
                break
            if time.monotonic() > end:
                raise _TooFewWorkersError
            time.sleep(0.1)
        return {"workers": [self.workers[task.panel]], "allow_other_workers": True}


def _submit(client: Any, job: WorkerJob, due: list[Task], done: Callable[[Task], None]) -> None:
    """Submit each task when the arrays that it needs exist.

    Dask is not told about dependencies: it would recompute the arrays of a lost worker, which are safe in the
    folder.
    """
    unfinished, waiting = {task.output for task in due}, list(due)
    running: dict[str, tuple[Task, Any]] = {}
    finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
    watch, homes = Watch(client), _Homes(client)

    def submit() -> None:
        for task in [task for task in waiting if unfinished.isdisjoint((*task.needs, *task.after))]:
            key = f"nafs-{job.token}-{task.output}"
            waiting.remove(task)
            # Earlier tasks have priority, so that fewer intermediate files exist at a time.
            order = {"priority": -due.index(task), **homes.options(task)}
            future = client.submit(run_task, job, task, key=key, retries=_RETRIES, pure=False, **order)
            running[key] = task, future
            future.add_done_callback(finished.put)

    try:
        submit()
        while running:
            try:
                future = finished.get(timeout=LOOK)
            except queue.Empty:
                watch.look(task for task, _ in running.values())
                continue
            watch.progress()
            task, _ = running.pop(future.key)
            if future.status != "finished":  # otherwise nothing is fetched: a stopped worker would not answer
                try:
                    future.result()
                except Exception as error:
                    raise _failed(task, error) from error
            future.release()
            unfinished.discard(task.output)
            done(task)
            submit()
    finally:
        client.cancel([future for _, future in running.values()])


def run_task(job: WorkerJob, task: Task) -> str:
    """Run one task on a worker, with all of its threads."""
    from distributed import get_worker

    with _BUSY:
        panels = _panels(job)
        panels.n_threads = get_worker().state.nthreads
        panels.run(task)
    return task.output


@lru_cache(maxsize=1)
def _panels(job: WorkerJob) -> Panels:
    work = WorkFolder(Path(job.folder), job.token)
    arrays = {name: load_npy(file) for name, file in job.graph}
    graph = Adjacency(arrays["indptr"], arrays["indices"], arrays.get("weights"), job.directed)
    columns = ColumnPanels(work, job.widths, job.largest, job.sparse, graph.n_nodes)
    return Panels(graph, columns, job.method, work, job.state_dtype, components=arrays.get("components"))


def _report_finished(report: Report, task: Task, method: Method, n_panels: int) -> None:
    rows, tick = report.n_nodes * len(task.hops), report.task_ticker(task, method.r[task.r], n_panels)
    if tick is not None:
        tick(rows)
    else:
        report.done += rows


def _failed(task: Task, error: Exception) -> Exception:
    from distributed import KilledWorker

    subject = f"panel {task.panel + 1} ({task.kind})"
    if isinstance(error, KilledWorker):
        return OSError(
            f"{subject} failed: its workers were killed repeatedly, perhaps because they ran out of memory; "
            "check their logs, lower the memory limit, and resume the run"
        )
    kind = OSError if isinstance(error, (OSError, MemoryError)) else RuntimeError
    return kind(f"{subject} failed on a worker: {type(error).__name__}: {error}")


def _shared(problem: Problem, work: WorkFolder) -> tuple[tuple[str, str], ...]:
    """Files with the graph's arrays: those that they are mapped from, or copies in the folder."""
    graph = problem.graph
    arrays: dict[str, NDArray[Any] | None] = {
        "indptr": graph.indptr,
        "indices": graph.indices,
        "weights": graph.weights,
    }
    if problem.method.needs_stationary_state:
        arrays["components"] = problem.components.labels
    files = []
    for name, array in arrays.items():
        if array is None:
            continue
        file = mapped_file(array)
        if file is None:
            copy = f"graph-{name}"
            if not work.has(copy):
                with work.making(copy, array.shape, array.dtype) as out:
                    out[:] = array
            file = work.file(copy)
        files.append((name, str(file.resolve())))
    return tuple(files)


def _check_workers(client: Any, job: WorkerJob) -> int:
    """Raise if a worker has another version or cannot see the files; return the number of processes."""
    from nafs import __version__

    try:
        answers = client.run(_version_and_missing_file, job)
    except ModuleNotFoundError as error:
        raise ConnectionError(
            f"a worker cannot import {error.name}: install nafs {__version__} there"
        ) from None
    if not answers:
        raise ConnectionError("the Dask scheduler has no workers; start some, then try again")
    for worker, (version, missing_file, _) in answers.items():
        if version != __version__:
            raise ConnectionError(
                f"worker {worker} has nafs {version}, but this process has {__version__}; install one version"
            )
        if missing_file:
            raise ConnectionError(
                f"worker {worker} does not see {missing_file}: put the work folder and the graph on a disk "
                "that all machines share under the same path"
            )
    return len({process for _, _, process in answers.values()})


def _version_and_missing_file(job: WorkerJob) -> tuple[str, str, str]:
    """Runs on a worker: its version, the first file that it cannot see, and its process."""
    from nafs import __version__

    files = [str(Path(job.folder) / "about.json"), *(file for _, file in job.graph)]
    missing_file = next((file for file in files if not Path(file).exists()), "")
    return __version__, missing_file, f"{os.getpid()} on {platform.node()}"


def _default_client() -> Any:
    """The default Dask client of this process, or ``None``."""
    try:
        from distributed import default_client
    except ImportError:
        raise MissingExtraError("the Dask engine needs distributed: pip install 'nafs[dask]'") from None
    try:
        return default_client()
    except ValueError:
        return None


@contextmanager
def _connected(client: Any, n_threads: int) -> Iterator[tuple[Any, bool]]:
    """A client, and whether we started its workers."""
    client = _default_client() if client is None else client
    if client is not None and not isinstance(client, str):
        yield client, False
        return
    from distributed import Client, LocalCluster

    if client is not None:
        try:
            connection = Client(client, timeout=_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise ConnectionError(
                f"no Dask scheduler answers at {client} ({error}); check the address, as in tcp://host:8786"
            ) from None
        with connection:
            yield connection, False
        return
    try:
        cluster = LocalCluster(
            n_workers=n_threads,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,  # Dask would count mapped files; panels already fit the limit
        )
    except RuntimeError as error:
        raise RuntimeError(
            f"workers could not be started ({error}); a script that starts them must run its work under "
            "if __name__ == '__main__':"
        ) from None
    with cluster, Client(cluster, set_as_default=False) as connection:
        yield connection, True
