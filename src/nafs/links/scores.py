"""Scores of a pair of nodes from their vectors alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.checks import check_choice

SCORES = ("inner", "cosine")
MEANINGS = {
    "head": "score: the log-odds of a link by the link head, up to a constant, so it is not a probability; "
    "higher is likelier; compare it only between suggestions from one embedding",
    "cosine": "score: the cosine of the two vectors, from -1 to 1; compare it only between embeddings made "
    "with the same settings",
    "inner": "score: the inner product of the two vectors, which grows with their lengths; compare it only "
    "between suggestions from one embedding",
}


def score_links(matrix: NDArray[Any], pairs: NDArray[Any], score: str = "inner") -> NDArray[np.float64]:
    """Inner product or cosine of the ends of each pair, in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from nafs.links import score_links
    >>> score_links(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]), np.array([[0, 1], [1, 2]]), "cosine")
    array([1., 0.])
    """
    check_choice("score", score, SCORES)
    scores = np.empty(len(pairs))
    step = max(1, (1 << 19) // matrix.shape[1])
    for top in range(0, len(pairs), step):
        a, b = (matrix[pairs[top : top + step, i]].astype(np.float64) for i in range(2))
        dots = np.einsum("ij,ij->i", a, b)
        if score == "cosine":
            sizes = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
            dots = np.divide(dots, sizes, out=np.zeros_like(dots), where=sizes > 0)
        scores[top : top + step] = dots
    return scores
