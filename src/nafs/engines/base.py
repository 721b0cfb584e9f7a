"""What all engines share: the problem that they are given, the plan that they make, and the result."""

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

EMBEDDING = "embedding"  # the array of the result in a work folder


@dataclass(frozen=True)
class FeatureSize:
    """What a plan has to know of features, which may not have been prepared yet."""

    n_columns: int
    nbytes: int
    sparse: bool = False
    mapped: bool = False

    @classmethod
    def of(cls, features: Features) -> FeatureSize:
        """The size of features that are there."""
        sparse = features.is_sparse
        return cls(features.shape[1], features.nbytes, sparse, not sparse and is_mapped(features.matrix))


class Components:
    """Connected components of a graph, found when first asked for and at most once."""

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
    """What an engine is asked to do.

    Parameters
    ----------
    graph : Adjacency
    size : FeatureSize
        Of the features that the engine will be given.
    method : Method
    resources : Resources
    held : int
        Bytes that copies of the inputs hold already; they count towards the memory limit.
    dtype : {"float32", "float16"}
        Of the embedding.
    resume : bool
        Resume the interrupted run in the work folder, if there is one.
    client : dask.distributed.Client or str, optional
        For the Dask engine: a client, or the address of a scheduler.
    components : Components, optional
    identity : callable, optional
        Returns what tells these inputs from others; by default checksums of graph and features.
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
            found = Components(self.graph, in_file=self.resources.limit is not None)
            object.__setattr__(self, "components", found)

    @property
    def n_centres(self) -> int:
        """Components whose centres the distances need."""
        return self.components.count if self.method.needs_stationary_state else 0

    @property
    def work_dir(self) -> Path | None:
        """The folder that the user named for the files of a run."""
        return None if self.resources.work_dir is None else Path(self.resources.work_dir)

    @property
    def interrupted_run(self) -> dict[str, Any]:
        """The description of the run to resume; empty where there is none."""
        return WorkFolder(self.work_dir).about() if self.resume and self.work_dir is not None else {}


@dataclass(frozen=True)
class Plan:
    """How an engine will run, and what that takes.

    Attributes
    ----------
    engine : str
    nbytes : int
        Memory that counts towards the limit.
    disk_bytes : int
        Room in the work folder.
    strategy : str
        How hops run, in words.
    group : int
        Normalisations r that are carried side by side.
    cached : bool
        Whether a few columns at a time take all hops in the cache.
    widths : tuple of ints
        Columns of each panel, where columns go in panels.
    workers : int
        Panels that run at the same time.
    """

    engine: str
    nbytes: int
    disk_bytes: int = 0
    strategy: str = ""
    group: int = 1
    cached: bool = False
    widths: tuple[int, ...] = ()
    workers: int = 1

    def explain(self) -> str:
        """One line for people.

        Examples
        --------
        >>> from nafs.engines.base import Plan
        >>> Plan("disk", 30_000_000, 2_000_000, "2 panels of up to 16 columns").explain()
        'disk engine, 2 panels of up to 16 columns: 30 MB of memory, up to 2 MB of disk'
        """
        disk = f", up to {show_bytes(self.disk_bytes)} of disk" if self.disk_bytes else ""
        each = " for each worker" if self.workers > 1 else ""
        return f"{self.engine} engine, {self.strategy}: {show_bytes(self.nbytes)} of memory{each}{disk}"


@dataclass
class Result:
    """An embedding, and the work folder that it lies in, if any.

    As a context manager it removes the folder when the block ends well. After an error a folder that the user
    named stays, so that the run can be resumed.
    """

    matrix: NDArray[Any]
    folder: Path | None = None
    temporary: bool = False

    @property
    def file(self) -> Path | None:
        """The .npy file that the matrix is mapped from."""
        return None if self.folder is None else WorkFolder(self.folder).file(EMBEDDING)

    def close(self) -> None:
        """Remove the folder. The matrix stays as long as it is used."""
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
    """Where hops run."""

    name: str

    def plan(self, problem: Problem) -> Plan:
        """How the problem will be run, before anything is allocated.

        Raises
        ------
        MemoryLimitError
            If the least that works exceeds the memory limit.
        """

    def run(
        self, problem: Problem, plan: Plan, features: Features, progress: ProgressCallback | None = None
    ) -> Result:
        """The embedding of ``features``, as planned."""
