"""From settings to an embedding: ``decide`` makes every decision once, and ``execute`` runs it.

>>> import numpy as np
>>> from nafs import Graph
>>> from nafs.pipeline import Job, Settings, decide, execute
>>> pair = Graph(np.array([[0, 1], [1, 0]]), [[0.0], [4.0]])
>>> decision = decide(Job.of(pair, Settings.of(n_hops=1, r=0.0, weighting="average")))
>>> decision.plan.engine
'memory'
>>> execute(decision).matrix
array([[1.],
       [3.]], dtype=float32)
"""

from nafs.pipeline.again import features_again
from nafs.pipeline.decide import Decision, decide, search_clusters
from nafs.pipeline.execute import Outcome, execute
from nafs.pipeline.job import Job
from nafs.pipeline.settings import Settings
from nafs.pipeline.sweep import sweep

__all__ = [
    "Decision",
    "Job",
    "Outcome",
    "Settings",
    "decide",
    "execute",
    "features_again",
    "search_clusters",
    "sweep",
]
