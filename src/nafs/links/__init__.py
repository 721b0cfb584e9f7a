"""Links: pairs hidden from a graph, and scores of pairs."""

from nafs.links.scores import SCORES, score_links
from nafs.links.splits import LinkSplit, split_links

__all__ = ["SCORES", "LinkSplit", "score_links", "split_links"]
