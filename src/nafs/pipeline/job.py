"""A job: the graph and features to embed, and the settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nafs._support.budget import program_bytes
from nafs._support.checks import check_choice
from nafs.engines.base import Components, FeatureSize
from nafs.engines.work import fingerprint
from nafs.graph import Adjacency, Features, Graph, read_features
from nafs.pipeline.settings import Settings
from nafs.selection.structure import beside
from nafs.smoothing.hops import STATE_DTYPES
from nafs.structure import DEFAULT_COLUMNS, structural_features


@dataclass(frozen=True, eq=False)
class Job:
    """A graph, its features and the settings.

    Components, checksums and structural features are expensive: they are computed on first use and at most
    once.

    Parameters
    ----------
    adjacency : Adjacency
    own_features : Features or None
        The graph's own features. Without any, structural features are computed from the edges.
    settings : Settings
    held : int
        Bytes already in use by copies of the inputs; they count towards the memory limit.
    dtype : {"float32", "float16"}
        Type of the embedding.
    resume : bool
        Resume the interrupted run in the work folder, if there is one.
    client : dask.distributed.Client or str, optional
        For the Dask engine.
    ids : Arrow array, optional
        Ids of the nodes, which structural features depend on; without them node i is called i.
    names : sequence of str, optional
        Names of the columns of ``own_features``.
    structure_share : float
        Share of the weight that structural columns have beside ``own_features``.
    prepared_as : str, optional
        The preprocessing that ``own_features`` has been through already.
    """

    adjacency: Adjacency
    own_features: Features | None
    settings: Settings
    held: int = 0
    dtype: str = "float32"
    resume: bool = False
    client: Any = None
    ids: Any = None
    names: Sequence[str] | None = None
    structure_share: float = 0.0
    prepared_as: str | None = None

    def __post_init__(self) -> None:
        check_choice("dtype", self.dtype, STATE_DTYPES)

    @classmethod
    def of(
        cls,
        graph: Graph,
        settings: Settings,
        *,
        dtype: str = "float32",
        resume: bool = False,
        client: Any = None,
    ) -> Job:
        """The job to embed a graph."""
        ids = graph.id_array if graph.has_ids else None
        held = program_bytes(settings.resources.limit)
        if held:  # the graph belongs to the program too
            held += graph.anonymous_nbytes
        names = graph.feature_names
        return cls(graph.adjacency, graph.features, settings, held, dtype, resume, client, ids, names)

    @property
    def is_structural(self) -> bool:
        """Whether the features are computed from the edges."""
        return self.own_features is None

    @cached_property
    def features(self) -> Features:
        """The graph's own features, structural ones, or both side by side."""
        return self.remake(self.adjacency) if self.depends_on_edges else self.own_features  # type: ignore[return-value]

    @property
    def depends_on_edges(self) -> bool:
        """Whether features would differ with other edges."""
        return self.own_features is None or self.structure_share > 0

    @property
    def size(self) -> FeatureSize:
        """Size of the features; does not compute structural ones."""
        if self.own_features is not None:
            return FeatureSize.of(self.features)
        columns = self.structural_columns
        return FeatureSize(columns, 4 * self.adjacency.n_nodes * columns)

    @property
    def structural_columns(self) -> int:
        """Number of structural columns: the only ones, or those beside the graph's own features."""
        preparations = self.settings.preparations
        wanted = preparations.dim if self.is_structural else preparations.structure
        return wanted if isinstance(wanted, int) else DEFAULT_COLUMNS

    def remake(self, adjacency: Adjacency, computed: tuple[Adjacency, Features] | None = None) -> Features:
        """The features of the same nodes with other edges; ``computed``: a graph and its structural ones."""
        known = computed is not None and computed[0].has_edges_of(adjacency)
        structural = computed[1] if computed is not None and known else self.structural(adjacency)
        return (
            structural
            if self.own_features is None
            else beside(self.own_features, structural, self.structure_share)
        )

    def structural(self, adjacency: Adjacency) -> Features:
        """Compute structural features of a graph, within the memory limit."""
        resources = self.settings.resources
        return read_features(
            structural_features(
                adjacency,
                self.structural_columns,
                self.settings.preparations.seed,
                ids=self.ids,
                n_threads=resources.threads,
                memory_limit=resources.limit,
            )
        )

    @cached_property
    def components(self) -> Components:
        """Connected components of the graph."""
        return Components(self.adjacency, in_file=self.settings.resources.limit is not None)

    @cached_property
    def fingerprint(self) -> dict[str, Any]:
        """Checksums that identify the inputs."""
        return fingerprint(self.adjacency, self.features)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about the inputs."""
        if not self.is_structural:
            return ()
        return (
            f"the graph has no features: {self.structural_columns} structural features are computed from its "
            f"edges (seed {self.settings.preparations.seed})",
        )
