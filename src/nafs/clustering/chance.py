"""The agreement of partitions that is expected by chance, without any clusters.

Heads agree to some degree on any cloud of points, because all of them cut it across its longest directions,
and the embeddings of neighbouring numbers of hops are very similar. How much depends on the number of
clusters and on the shape of the cloud, so no fixed threshold separates clusters from noise. A single Gaussian
with the mean and the covariances of the embeddings, also those between different numbers of hops, has the
same shape and no clusters. The agreement on it is what the agreement on the embeddings has to exceed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nafs.clustering.agreement import pairwise_agreement, rand_index, vote
from nafs.clustering.directions import Directions
from nafs.clustering.heads import HEADS, partitions

ROWS = 1000  # of a cloud
CLOUDS = 2  # one says little about few clusters
_FEWEST = 9  # candidates; a single embedding is clustered with several seeds


def cloud_like(embeddings: Sequence[Directions], n_columns: int, seed: int = 0) -> list[Directions]:
    """Rows drawn from one Gaussian with the mean and covariances of some embeddings of the same rows."""
    rng = np.random.default_rng(seed)
    parts = [directions.rows[:, :n_columns] for directions in embeddings]
    rows = np.concatenate(parts, axis=1).astype(np.float64)
    mean = rows.mean(axis=0)
    rows -= mean
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    spread = vectors * np.sqrt(np.maximum(values, 0))
    drawn = mean + rng.standard_normal((min(len(rows), ROWS), len(values))) @ spread.T
    ends = np.cumsum([part.shape[1] for part in parts])[:-1]
    return [Directions.of(part, n_columns) for part in np.split(drawn.astype(np.float32), ends, axis=1)]


def agreement_by_chance(embeddings: Sequence[Directions], n_clusters: int, seed: int = 0) -> float:
    """Mean adjusted Rand index between partitions of a cloud without clusters and their consensus.

    Parameters
    ----------
    embeddings : sequence of Directions
        With the same rows.
    n_clusters : int
    seed : int

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.clustering.chance import agreement_by_chance
    >>> from nafs.clustering.directions import Directions
    >>> points = np.random.default_rng(0).standard_normal((200, 8))
    >>> agreement_by_chance([Directions.of(points, 12)], 3) < 0.5
    True
    """
    return float(
        np.mean([_agreement(embeddings, n_clusters, CLOUDS * seed + draw) for draw in range(CLOUDS)])
    )


def _agreement(embeddings: Sequence[Directions], n_clusters: int, seed: int) -> float:
    cloud = cloud_like(embeddings, 4 * n_clusters, seed)
    repeats = -(-_FEWEST // (len(cloud) * len(HEADS)))
    candidates = np.array(
        [
            labels
            for repeat in range(repeats)
            for place, rows in enumerate(cloud)
            for _, labels in partitions(rows, n_clusters, (seed, repeat, place), names=tuple(HEADS))
        ]
    )
    mean = pairwise_agreement(candidates, n_clusters).mean(axis=1)
    shares = vote(candidates, np.maximum(mean, 1e-9), candidates[int(mean.argmax())], n_clusters)
    winner = shares.argmax(axis=1)
    return float(np.mean([rand_index(winner, partition, n_clusters) for partition in candidates]))
