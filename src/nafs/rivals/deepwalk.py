"""DeepWalk: random walks are sentences, nodes are words, and a skip-gram model embeds them.

Only the edges are used. Walks are drawn for all nodes at once on the graph's neighbour lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.graph import Adjacency
from nafs.rivals.contract import Problem, Progress, Rival, dense_bytes


def random_walks(adjacency: Adjacency, length: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """One walk from each node, in random order; a node without neighbours stays where it is.

    Parameters
    ----------
    adjacency : Adjacency
        Unweighted steps: every neighbour is as likely as any other.
    length : int
        Number of nodes on a walk.
    rng : Generator

    Returns
    -------
    ndarray of int32, shape (n, length)
    """
    at = rng.permutation(adjacency.n_nodes)
    counts = np.diff(adjacency.indptr)
    walks = np.empty((len(at), length), np.int32)
    for step in range(length):
        walks[:, step] = at
        moving = np.flatnonzero(counts[at] > 0)
        offsets = (rng.random(len(moving)) * counts[at[moving]]).astype(np.int64)
        at[moving] = adjacency.indices[adjacency.indptr[at[moving]] + offsets]
    return walks


def fit(
    problem: Problem,
    seed: int,
    progress: Progress,
    *,
    walks: int,
    length: int,
    window: int,
    width: int,
) -> NDArray[np.float32]:
    """Skip-gram with hierarchical softmax over the walks."""
    from gensim.models import Word2Vec

    adjacency = problem.graph.adjacency
    names = np.array([str(node) for node in range(adjacency.n_nodes)], object)

    class Corpus:
        stopped: BaseException | None = None

        def __iter__(self) -> Iterator[list[Any]]:
            rng = np.random.default_rng(seed)
            for done in range(walks):
                for walk in random_walks(adjacency, length, rng):
                    yield list(names[walk])
                try:
                    progress(done + 1, walks)
                except BaseException as error:  # this is a thread of gensim, which would wait forever
                    self.stopped = error
                    return

    # One worker: with several, the order of the updates would depend on the scheduler.
    model = Word2Vec(
        vector_size=width, window=window, min_count=0, sg=1, hs=1, negative=0, workers=1, seed=seed, epochs=1
    )
    often = dict.fromkeys(names, walks * length)
    model.build_vocab_from_freq(often)
    corpus = Corpus()
    model.train(corpus, total_examples=walks * len(names), epochs=1)
    if corpus.stopped is not None:
        raise corpus.stopped
    return np.stack([model.wv[name] for name in names]).astype(np.float32)


DEEPWALK = Rival(
    "DeepWalk",
    ("links", "clustering", "classification"),
    fit,
    "Perozzi et al., DeepWalk: Online learning of social representations, KDD 2014",
    cost=13,
    settings={"walks": 10, "length": 80, "window": 10, "width": 128},
    extra="rivals",
    memory=lambda graph: dense_bytes(graph, 256) + 320 * graph.n_nodes,
)
