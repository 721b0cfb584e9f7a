"""How well scores rank hidden edges among pairs without an edge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

HITS = (10, 50, 100)


def ranking_measures(edges: NDArray[np.float64], others: NDArray[np.float64]) -> dict[str, float]:
    """AUC, AP, Hits@10, 50 and 100, and MRR of the scores of edges against those of other pairs.

    Every edge is compared with all other pairs. Hits@k is the share of edges that fewer than k other pairs
    outscore; MRR is the mean of 1 / rank, where a tie counts as half a rank.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.links.ranking import ranking_measures
    >>> ranking_measures(np.array([3.0, 0.5]), np.array([1.0, 0.0]))["MRR"]
    0.75
    """
    from sklearn.metrics import average_precision_score, roc_auc_score

    truth = np.arange(len(edges) + len(others)) < len(edges)
    scores = np.concatenate([edges, others])
    ascending = np.sort(others)
    above = len(others) - np.searchsorted(ascending, edges, side="right")
    ties = len(others) - np.searchsorted(ascending, edges, side="left") - above
    measures = {
        "AUC": float(roc_auc_score(truth, scores)),
        "AP": float(average_precision_score(truth, scores)),
    }
    for k in HITS:
        measures[f"Hits@{k}"] = float((above + ties < k).mean())
    return measures | {"MRR": float((1 / (1 + above + ties / 2)).mean())}
