"""The Dask engine: panels as futures on many machines that share a folder.

Workers read the graph and their panel from the folder and write their results into it; only names travel
through the scheduler. A task whose worker is lost is run again by another, with the same bits.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import MissingExtraError
from nafs._support.mapped import mapped_file
from nafs.engines.base import Problem
from nafs.engines.columns import ColumnPanels
from nafs.engines.panel_engine import Done, Executor, PanelEngine
from nafs.engines.panels import Panels, Task
from nafs.engines.progress import Report
from nafs.engines.work import WorkFolder
from nafs.graph import Adjacency
from nafs.smoothing.method import Method

_RETRIES = 3
_SECONDS = 10  # to reach a scheduler
_BUSY = threading.Lock()  # two tasks of one process would share states


class DaskEngine(PanelEngine):
    """Panels on the workers of a Dask cluster."""

    name = "dask"
    all_in_files = True

    def workers(self, problem: Problem) -> tuple[int, bool]:
        """The workers of the cluster; workers of our own share the memory limit."""
        if problem.client is None and _default_client() is None:
            return problem.resources.threads, True
        with _connected(problem.client, problem.resources.threads) as (client, _):
            return max(1, len(client.scheduler_info(n_workers=-1)["workers"])), False

    @contextmanager
    def executor(self, problem: Problem) -> Iterator[Executor]:
        """Tasks as futures."""
        with _connected(problem.client, problem.resources.threads) as (client, _):
            yield _Futures(client)


@dataclass(frozen=True)
class WorkerJob:
    """What a worker needs to know to run any task; small, and sent with each."""

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
        self.client = client
        self.token: str | None = secrets.token_hex(8)

    def prepare(self, problem: Problem, work: WorkFolder, columns: ColumnPanels) -> None:
        """Put the graph into files that workers can read, and check that they do."""
        self._method, self._n_panels = problem.method, len(columns.widths)
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
        _check_workers(self.client, self._job)

    def run(self, due: list[Task], report: Report, done: Done) -> None:
        """Run each task once the arrays that it needs are there."""

        def finished(task: Task) -> None:
            _tell(report, task, self._method, self._n_panels)
            done(task)

        try:
            _submit(self.client, self._job, due, finished)
        finally:
            with suppress(Exception):  # workers that are gone hold nothing
                self.client.run(_panels.cache_clear)


def _submit(client: Any, job: WorkerJob, due: list[Task], done: Callable[[Task], None]) -> None:
    """Submit each task when the arrays that it needs are there.

    Dask knows nothing of what tasks need: it would make an array again whose worker is gone, though it is
    safe in the folder.
    """
    from distributed import as_completed

    lacking, waiting = {task.output for task in due}, list(due)
    running: dict[str, Task] = {}
    futures = as_completed(loop=client.loop)

    def submit() -> None:
        for task in [task for task in waiting if lacking.isdisjoint(task.needs)]:
            key = f"nafs-{job.token}-{task.output}"
            running[key] = task
            waiting.remove(task)
            # Earlier tasks have priority, so that fewer files wait.
            futures.add(
                client.submit(
                    run_task, job, task, key=key, retries=_RETRIES, priority=-due.index(task), pure=False
                )
            )

    submit()
    try:
        for future in futures:
            task = running.pop(future.key)
            try:
                future.result()
            except Exception as error:
                raise _failed(task, error) from error
            future.release()
            lacking.discard(task.output)
            done(task)
            submit()
    finally:
        client.cancel(list(futures.futures))


def run_task(job: WorkerJob, task: Task) -> str:
    """Make one array, on a worker: one at a time, with all its threads."""
    from distributed import get_worker

    with _BUSY:
        panels = _panels(job)
        panels.n_threads = get_worker().state.nthreads
        panels.run(task)
    return task.output


@lru_cache(maxsize=1)
def _panels(job: WorkerJob) -> Panels:
    work = WorkFolder(Path(job.folder), job.token)
    arrays = {name: np.asarray(np.load(file, mmap_mode="r", allow_pickle=False)) for name, file in job.graph}
    graph = Adjacency(arrays["indptr"], arrays["indices"], arrays.get("weights"), job.directed)
    columns = ColumnPanels(work, job.widths, job.largest, job.sparse, graph.n_nodes)
    return Panels(graph, columns, job.method, work, job.state_dtype, components=arrays.get("components"))


def _tell(report: Report, task: Task, method: Method, n_panels: int) -> None:
    tick = report.task_ticker(task, method.r[task.r], n_panels)
    if tick is not None:
        tick(report.rows)
    elif task.kind != "add":
        report.done += report.rows


def _failed(task: Task, error: Exception) -> Exception:
    from distributed import KilledWorker

    what = f"panel {task.panel + 1} ({task.kind})"
    if isinstance(error, KilledWorker):
        return RuntimeError(
            f"{what} was given up: its workers died again and again, perhaps for want of memory; see their "
            "logs, lower the memory limit, and resume the run"
        )
    return RuntimeError(f"{what} failed on a worker: {type(error).__name__}: {error}")


def _shared(problem: Problem, work: WorkFolder) -> tuple[tuple[str, str], ...]:
    """The graph's arrays in files: those that it is mapped from, or copies in the folder."""
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


def _check_workers(client: Any, job: WorkerJob) -> None:
    """Raise where a worker has another version or does not see the files."""
    from nafs import __version__

    try:
        seen = client.run(_look, job)
    except ModuleNotFoundError as error:
        raise ConnectionError(
            f"a worker cannot import {error.name}: install nafs {__version__} there"
        ) from None
    if not seen:
        raise ConnectionError("the Dask scheduler has no workers; start some, then run this again")
    for worker, (version, absent) in seen.items():
        if version != __version__:
            raise ConnectionError(
                f"worker {worker} has nafs {version}, here it is {__version__}; install the same everywhere"
            )
        if absent:
            raise ConnectionError(
                f"worker {worker} does not see {absent}: put the work folder and the graph on a disk that "
                "all machines share under the same path"
            )


def _look(job: WorkerJob) -> tuple[str, str]:
    """On a worker: its version, and the first file that it does not see."""
    from nafs import __version__

    files = [str(Path(job.folder) / "about.json"), *(file for _, file in job.graph)]
    return __version__, next((file for file in files if not Path(file).exists()), "")


def _default_client() -> Any:
    """The Dask client in use in this process, if any."""
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
    """A client, and whether its workers are our own."""
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
            memory_limit=0,  # mapped files would count; panels are as wide as the limit allows
        )
    except RuntimeError as error:
        raise RuntimeError(
            f"workers could not be started ({error}); a script that starts them needs the line "
            "if __name__ == '__main__': around its work"
        ) from None
    with cluster, Client(cluster, set_as_default=False) as connection:
        yield connection, True
