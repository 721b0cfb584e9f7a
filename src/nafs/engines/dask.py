"""The Dask engine: the tasks of the disk engine, as futures on many machines that share a folder.

Workers read the graph and their panel from the folder and write what they make into it; names travel through
the scheduler, and nothing else. A task whose worker is lost is made again by another, with the same bits.
"""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.engines import disk
from nafs.engines.columns import ColumnPanels, write_norms, write_panels
from nafs.engines.panels import Panels, Task, list_tasks, missing, results_of
from nafs.engines.progress import ProgressCallback, Report, count_passes
from nafs.engines.work import WorkFolder
from nafs.graph import Adjacency, Features
from nafs.smoothing.method import Method

_RETRIES = 3
_SECONDS = 10  # to reach a scheduler
_ARRAYS = ("indptr", "indices", "weights")
_BUSY = threading.Lock()  # two tasks of one process would share states


@dataclass(frozen=True)
class Job:
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


def embed(
    graph: Adjacency,
    features: Features,
    method: Method,
    *,
    folder: Path,
    client: Any = None,
    resume: bool = False,
    dtype: str = "float32",
    state_dtype: str = "float32",
    n_threads: int = 1,
    memory_limit: int | None = None,
    held: int = 0,
    progress: ProgressCallback | None = None,
) -> NDArray[Any]:
    """The embedding of ``features`` over ``graph``, mapped from ``embedding.npy`` in the folder.

    Parameters
    ----------
    graph, features, method, resume, dtype, state_dtype, progress
        As in :func:`nafs.engines.disk.embed`.
    folder : Path
        Where the work is done; workers see it under the same path.
    client : dask.distributed.Client or str, optional
        Or the address of a scheduler. By default the client in use, or else workers of our own on this
        machine, ``n_threads`` in all.
    memory_limit : int, optional
        Bytes of anonymous memory for each worker; for workers of our own, for all of them.
    held : int
        Bytes of the limit that are in use already on this machine.

    Returns
    -------
    ndarray, shape (n, columns)
    """
    with _connected(client, n_threads) as (connection, own):
        n_workers = max(1, len(connection.scheduler_info(n_workers=-1)["workers"]))
        chosen = disk.plan(
            graph,
            (features.shape[1], features.nbytes),
            method,
            state_dtype=state_dtype,
            memory_limit=memory_limit,
            held=held if own else 0,
            workers=n_workers,
            shared=own,
        )
        work = WorkFolder(folder.resolve(), secrets.token_hex(8))
        widths = disk.widths_of(work, chosen, resume=resume)
        disk.check_room(folder, chosen.disk_bytes, resume=resume)
        about = disk.describe(graph, features, method, state_dtype=state_dtype, dtype=dtype, widths=widths)
        with work.run(about, resume=resume):
            job = Job(
                str(work.path),
                str(work.token),
                _shared(graph, work),
                graph.directed,
                method,
                widths,
                features.largest,
                features.dense is None,
                state_dtype,
            )
            _check_workers(connection, job)
            tasks, results = list_tasks(method, len(widths)), results_of(method, len(widths))
            due = [] if work.has(disk.EMBEDDING) else missing(tasks, results, work)
            if due:
                write_norms(features, work)
                write_panels(features, widths, sorted({task.panel for task in due}), work)
            report = Report(progress, graph.n_nodes, method.n_hops, count_passes(tasks))
            report.skip(set(tasks) - set(due))
            try:
                _run(connection, job, due, work, lambda task: _tell(report, task, method, len(widths)))
            finally:
                _forget(connection)
            return disk.assemble(work, results, graph.n_nodes, dtype)


def _run(client: Any, job: Job, due: list[Task], work: WorkFolder, done: Callable[[Task], None]) -> None:
    """Submit each task when the arrays that it needs are there, and remove what nobody needs any more.

    Dask knows nothing of what tasks need: it would make an array again whose worker is gone, though it is
    safe in the folder.
    """
    from distributed import as_completed

    uses = Counter(name for task in due for name in task.needs)
    lacking, waiting = {task.output for task in due}, list(due)
    running: dict[str, Task] = {}
    futures = as_completed(loop=client.loop)

    def submit() -> None:
        for task in [task for task in waiting if lacking.isdisjoint(task.needs)]:
            key = f"nafs-{job.token}-{task.output}"
            running[key] = task
            waiting.remove(task)
            # Those that come first in the list come first: fewer files wait.
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
            uses.subtract(task.needs)
            for name in task.needs:
                if not uses[name]:
                    work.drop(name)
            submit()
    finally:
        client.cancel(list(futures.futures))


def run_task(job: Job, task: Task) -> str:
    """Make one array, on a worker: one at a time, with all its threads."""
    from distributed import get_worker

    with _BUSY:
        panels = _panels(job)
        panels.n_threads = get_worker().state.nthreads
        panels.run(task)
    return task.output


@lru_cache(maxsize=1)
def _panels(job: Job) -> Panels:
    work = WorkFolder(Path(job.folder), job.token)
    arrays = {name: np.asarray(np.load(file, mmap_mode="r", allow_pickle=False)) for name, file in job.graph}
    graph = Adjacency(arrays["indptr"], arrays["indices"], arrays.get("weights"), job.directed)
    columns = ColumnPanels(work, job.widths, job.largest, job.sparse, graph.n_nodes)
    return Panels(graph, columns, job.method, work, job.state_dtype)


def _forget(client: Any) -> None:
    """Let workers release their states and files."""
    with suppress(Exception):  # those that are gone hold nothing
        client.run(_panels.cache_clear)


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
            "logs, lower memory_limit, and go on (--resume, resume=True)"
        )
    return RuntimeError(f"{what} failed on a worker: {type(error).__name__}: {error}")


def _shared(graph: Adjacency, work: WorkFolder) -> tuple[tuple[str, str], ...]:
    """The graph's arrays in files: those that it is mapped from, or copies in the folder."""
    found = []
    for name in _ARRAYS:
        array = getattr(graph, name)
        if array is None:
            continue
        file = disk.mapped_file(array)
        if file is None:
            copy = f"graph-{name}"
            if not work.has(copy):
                with work.making(copy, array.shape, array.dtype) as out:
                    out[:] = array
            file = work.file(copy)
        found.append((name, str(file.resolve())))
    return tuple(found)


def _check_workers(client: Any, job: Job) -> None:
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
                "all machines share under the same path (--work-dir, work_dir=)"
            )


def _look(job: Job) -> tuple[str, str]:
    """On a worker: its version, and the first file that it does not see."""
    from nafs import __version__

    files = [str(Path(job.folder) / "about.json"), *(file for _, file in job.graph)]
    return __version__, next((file for file in files if not Path(file).exists()), "")


@contextmanager
def _connected(client: Any, n_threads: int) -> Iterator[tuple[Any, bool]]:
    """A client, and whether its workers are our own."""
    try:
        from distributed import Client, LocalCluster, default_client
    except ImportError:
        raise ImportError("the Dask engine needs distributed: pip install 'nafs[dask]'") from None
    if client is not None and not isinstance(client, str):
        yield client, False
        return
    if client is None:
        try:
            known = default_client()
        except ValueError:
            known = None
        if known is not None:
            yield known, False
            return
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
