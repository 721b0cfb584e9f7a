"""What a clustering says about itself: how it was found, and how far it can be trusted."""

from __future__ import annotations

from typing import NamedTuple

from nafs._support.counted import counted
from nafs.clustering.number import NUMBERS
from nafs.clustering.result import Clustering


class Course(NamedTuple):
    """How a consensus was found.

    Attributes
    ----------
    hops, usual : list of int
        The numbers of hops that were used, and those that are used on most graphs.
    with_features : bool
        Whether the features before smoothing could count.
    n_sampled : int
        Nodes that were clustered before the last step; 0 if all were.
    uneven : str
        Why clusters of uneven size are used; empty if they are not.
    n_moved : int
        Nodes that own features moved to another cluster.
    own_features_first : str
        Why own features count more than usual; empty if they do not.
    """

    hops: list[int]
    usual: list[int]
    with_features: bool
    n_sampled: int
    uneven: str
    n_moved: int
    own_features_first: str


def reasons_for(clustering: Clustering, n_clusters: int, course: Course) -> list[str]:
    """One sentence for each choice that led to a clustering, of which ``n_clusters`` clusters were wanted."""
    n_nodes, hops, usual = len(clustering.labels), course.hops, course.usual
    close = clustering.n_agreeing
    reasons = [
        f"{clustering.n_candidates} clusterings, by several methods at {counted(len(hops), 'number')} of "
        f"hops, were combined into one; {close} of them {'is' if close == 1 else 'are'} close to it, and all "
        f"agree with it by {clustering.agreement:.2f} on average (adjusted Rand index; "
        f"{clustering.by_chance:.2f} would be expected without any clusters)"
    ]
    if hops[-1] > usual[-1]:
        said = "the edges and the features together" if course.with_features else "the edges"
        reasons.append(
            f"{hops[0]} to {hops[-1]} hops were used instead of {usual[0]} to {usual[-1]}: clusters then say "
            f"more about {said}"
        )
    if course.n_sampled:
        reasons.append(
            f"these are clusterings of {course.n_sampled:,} of {n_nodes:,} nodes; the last step assigned the "
            "others"
        )
    if len(hops) > 1:
        number = counted(clustering.n_hops, "hop")
        reasons.append(f"{number}: the clusterings at this number agree best with the combined one")
    if course.uneven:
        reasons.append(f"clusters merged along the edges are used: {course.uneven}")
    if course.n_moved:
        reasons.append(
            "nodes that moved to another cluster because of their own features, before smoothing: "
            f"{course.n_moved:,} of {n_nodes:,}"
        )
    if course.own_features_first:
        reasons.append(f"own features count more than usual: {course.own_features_first}")
    if clustering.n_clusters < n_clusters:
        present = counted(clustering.n_clusters, "cluster")
        reasons.append(f"{present} instead of {n_clusters}: no node is left for the others")
    if clustering.doubtful and n_clusters > 1:
        reasons.append(
            "these clusters are doubtful: the clusterings do not agree clearly more than they would on data "
            "without clusters"
        )
    return reasons


def reason_for_number(curve: dict[int, float], number: int, *, with_edges: bool) -> str:
    """Why this number of clusters was chosen.

    Examples
    --------
    >>> from nafs.clustering.reasons import reason_for_number
    >>> reason_for_number({2: 0.2, 3: 0.5, 4: 0.51}, 3, with_edges=False).split(";")[1]
    ' 3 is the smallest within 5 % of the best rating (0.500 of 0.510)'
    """
    criterion = "how well repeated clusterings agree"
    if with_edges:
        criterion += ", times the modularity of their clusters"
    reason = (
        f"number of clusters {number}: tried {min(curve)} to {max(curve)} and rated each by {criterion}; "
        f"{number} is the smallest within 5 % of the best rating "
        f"({curve[number]:.3f} of {max(curve.values()):.3f})"
    )
    if max(curve, key=lambda tried: curve[tried]) == NUMBERS[-1]:
        reason += "; the largest number that was tried is the best, so there may be more: give their number"
    return reason
