"""The Dask engine: the tasks of the disk engine, as futures on many machines that share a folder.

Workers read the graph and their panel from the folder and write what they make into it; names travel through
the scheduler, and nothing else. A task whose worker is lost is made again by another, with the same bits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


@dataclass(frozen=True)
class Job:
    """What a worker needs to know to run any task; small, and sent with each."""

    folder: str
    graph: tuple[tuple[str, str], ...]  # name and file of each array
    directed: bool
    method: Method
    widths: tuple[int, ...]
    largest: float
    sparse: bool
    state_dtype: str
    dtype: str


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

    Returns
    -------
    ndarray, shape (n, columns)
    """
    with _connected(client, n_threads) as (connection, own):
        n_workers = max(1, len(connection.scheduler_info(n_workers=-1)["workers"]))
        share = memory_limit // n_workers if own and memory_limit is not None else memory_limit
        chosen = disk.plan(
            graph,
            (features.shape[1], features.nbytes),
            method,
            state_dtype=state_dtype,
            memory_limit=share,
            workers=n_workers,
        )
        work = WorkFolder(folder.resolve())
        before = work.about().get("widths") if resume else None
        widths = chosen.widths if before is None else tuple(before)
        disk.check_room(folder, chosen.disk_bytes, resume=resume)
        about = disk.describe(graph, features, method, state_dtype=state_dtype, dtype=dtype, widths=widths)
        with work.run(about, resume=resume):
            job = Job(
                str(work.path),
                _shared(graph, work),
                graph.directed,
                method,
                widths,
                features.largest,
                features.dense is None,
                state_dtype,
                dtype,
            )
            _check_workers(connection, job)
            tasks, results = list_tasks(method, len(widths)), results_of(method, len(widths))
            due = [] if work.has(disk.EMBEDDING) else missing(tasks, results, work)
            if due:
                write_norms(features, work)
                write_panels(features, widths, sorted({task.panel for task in due}), work)
            report = Report(progress, graph.n_nodes, method.n_hops, count_passes(tasks))
            report.skip(set(tasks) - set(due))
            _run(connection, job, due, work, lambda task: _tell(report, task, method, len(widths)))
            return disk.assemble(work, results, graph.n_nodes, dtype)


def _run(client: Any, job: Job, due: list[Task], work: WorkFolder, done: Callable[[Task], None]) -> None:
    """Submit every task with those that it needs, and remove what nobody needs any more."""
    from distributed import as_completed

    futures: dict[str, Any] = {}
    for task in due:
        needs = [futures[name] for name in task.needs if name in futures]
        futures[task.output] = client.submit(run_task, job, task, *needs, retries=_RETRIES, pure=False)
    by_key = {futures[task.output].key: task for task in due}
    uses = Counter(name for task in due for name in task.needs)
    try:
        for future in as_completed(futures.values(), loop=client.loop):
            task = by_key[future.key]
            try:
                future.result()
            except Exception as error:
                raise _failed(task, error) from error
            done(task)
            uses.subtract(task.needs)
            for name in task.needs:
                if not uses[name]:
                    work.drop(name)
    finally:
        client.cancel(list(futures.values()))


def run_task(job: Job, task: Task, *_: Any) -> str:
    """Make one array, on a worker."""
    from distributed import get_worker

    panels = _panels(job)
    panels.n_threads = get_worker().state.nthreads
    panels.run(task)
    return task.output


@lru_cache(maxsize=1)
def _panels(job: Job) -> Panels:
    work = WorkFolder(Path(job.folder))
    arrays = {name: np.asarray(np.load(file, mmap_mode="r", allow_pickle=False)) for name, file in job.graph}
    graph = Adjacency(arrays["indptr"], arrays["indices"], arrays.get("weights"), job.directed)
    columns = ColumnPanels(work, job.widths, job.largest, job.sparse, graph.n_nodes)
    return Panels(graph, columns, job.method, work, job.state_dtype)


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
        raise RuntimeError(f"a worker cannot import {error.name}: install nafs {__version__} there") from None
    if not seen:
        raise RuntimeError("the Dask scheduler has no workers; start some, then run this again")
    for worker, (version, absent) in seen.items():
        if version != __version__:
            raise RuntimeError(
                f"worker {worker} has nafs {version}, here it is {__version__}; install the same everywhere"
            )
        if absent:
            raise RuntimeError(
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
