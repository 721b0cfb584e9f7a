"""Links: edges hidden from a graph, and scores of pairs of nodes."""

from nafs.links.head import LinkHead, PairNumbers, head_nbytes
from nafs.links.ranking import ranking_measures
from nafs.links.scores import SCORES, score_links
from nafs.links.splits import LinkSplit, split_links

__all__ = [
    "SCORES",
    "LinkHead",
    "LinkSplit",
    "PairNumbers",
    "head_nbytes",
    "ranking_measures",
    "score_links",
    "split_links",
]
