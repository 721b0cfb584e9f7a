"""The contract of all engines: the problem, the plan, the result and the protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from nafs._support.budget import show_bytes
from nafs._support.mapped import is_mapped
from nafs._support.scratch import scratch_in
from nafs.engines.progress import ProgressCallback
from nafs.engines.resources import Resources
from nafs.engines.work import WorkFolder
from nafs.graph import Adjacency, Features
from nafs.smoothing import _kernel
from nafs.smoothing.method import Method
from nafs.smoothing.stationary import require_undirected

EMBEDDING = "embedding"  # name of the result's array in a work folder


@dataclass(frozen=True)
class FeatureSize:
    """The size of a feature matrix, which may not have been prepared yet."""

    n_columns: int
    nbytes: int
    sparse: bool = False
    mapped: bool = False

    @classmethod
    def of(cls, features: Features) -> FeatureSize:
        """The size of an existing matrix."""
        sparse = features.is_sparse
        return cls(features.shape[1], features.nbytes, sparse, not sparse and is_mapped(features.matrix))


class Components:
    """Connected components of a graph, computed on first use and at most once."""

    def __init__(self, graph: Adjacency, *, in_file: bool = False) -> None:
        self._graph, self._in_file = graph, in_file

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """Component of each node, numbered from 0."""
        require_undirected(self._graph)
        shape = (self._graph.n_nodes,)
        labels = scratch_in(None)(shape, np.int32) if self._in_file else np.empty(shape, np.int32)
        self._count = _kernel.components(self._graph.indptr, self._graph.indices, labels)
        return labels

    @property
    def count(self) -> int:
        """Number of components."""
        _ = self.labels
        return self._count


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything an engine needs to plan and run, except the feature values.

    Parameters
    ----------
    graph : Adjacency
    size : FeatureSize
        Size of the prepared features.
    method : Method
    resources : Resources
    held : int
        Bytes already in use by copies of the inputs; they count towards the memory limit.
    dtype : {"float32", "float16"}
        Type of the embedding.
    resume : bool
        Resume the interrupted run in the work folder, if there is one.
    client : dask.distributed.Client or str, optional
        For the Dask engine: a client, or the address of a scheduler.
    components : Components, optional
    identity : callable, optional
        Returns a description that identifies the inputs; by default checksums of graph and features.
    """

    graph: Adjacency
    size: FeatureSize
    method: Method
    resources: Resources = field(default_factory=Resources)
    held: int = 0
    dtype: str = "float32"
    resume: bool = False
    client: Any = None
    components: Components = None  # type: ignore[assignment]
    identity: Callable[[], dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        if self.components is None:
            components = Components(self.graph, in_file=self.resources.limit is not None)
            object.__setattr__(self, "components", components)

    @property
    def n_centres(self) -> int:
        """Number of component centres that the distance needs."""
        return self.components.count if self.method.needs_stationary_state else 0

    @property
    def work_dir(self) -> Path | None:
        """The folder that the user chose for the files of a run."""
        return None if self.resources.work_dir is None else Path(self.resources.work_dir)

    @property
    def interrupted_run(self) -> dict[str, Any]:
        """The description of the run to resume; empty if there is none."""
        return WorkFolder(self.work_dir).about() if self.resume and self.work_dir is not None else {}


@dataclass(frozen=True)
class Plan:
    """How an engine will run, and how much memory and disk space it needs.

    Attributes
    ----------
    engine : str
    nbytes : int
        Memory in bytes that counts towards the limit.
    disk_bytes : int
        Disk space in the work folder, in bytes.
    strategy : str
        How the hops run, for people.
    group : int
        Number of r's that are computed side by side.
    ordered : bool
        Whether nodes are renumbered by their communities.
    arranged : int
        Rows of the features that are copied in that order.
    cached : bool
        Whether the hops run on a few columns at a time, in the cache.
    widths : tuple of ints
        Columns of each panel; empty if the engine does not use panels.
    workers : int
        Panels that run at the same time.
    """

    engine: str
    nbytes: int
    disk_bytes: int = 0
    strategy: str = ""
    group: int = 1
    ordered: bool = False
    arranged: int = 0
    cached: bool = False
    widths: tuple[int, ...] = ()
    workers: int = 1

    def explain(self) -> str:
        """Describe the plan in one line.

        Examples
        --------
        >>> from nafs.engines.base import Plan
        >>> Plan("disk", 30_000_000, 2_000_000, "2 panels of 16 columns").explain()
        'disk engine, 2 panels of 16 columns: 30 MB of memory besides graph and program, up to 2 MB of disk'
        """
        disk = f", up to {show_bytes(self.disk_bytes)} of disk" if self.disk_bytes else ""
        each = " for each worker" if self.workers > 1 else ""
        memory = f"{show_bytes(self.nbytes)} of memory besides graph and program{each}"
        return f"{self.engine} engine, {self.strategy}: {memory}{disk}"


@dataclass
class Result:
    """An embedding, and the work folder that holds it, if any.

    As a context manager it removes the folder on success. After an error, a folder that the user chose is
    kept, so that the run can be resumed.
    """

    matrix: NDArray[Any]
    folder: Path | None = None
    temporary: bool = False

    @property
    def file(self) -> Path | None:
        """The .npy file that the matrix is mapped from."""
        return None if self.folder is None else WorkFolder(self.folder).file(EMBEDDING)

    def close(self) -> None:
        """Remove the folder. The matrix remains valid."""
        if self.folder is not None:
            WorkFolder(self.folder).remove()
            self.folder = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or self.temporary:
            self.close()


class Engine(Protocol):
    """Runs the hops of a problem, in memory, on disk or on a cluster."""

    name: str

    def plan(self, problem: Problem) -> Plan:
        """Plan the run; nothing is allocated yet.

        Raises
        ------
        MemoryLimitError
            If even the smallest plan exceeds the memory limit.
        """

    def run(
        self, problem: Problem, plan: Plan, features: Features, progress: ProgressCallback | None = None
    ) -> Result:
        """Compute the embedding of ``features`` as planned."""
