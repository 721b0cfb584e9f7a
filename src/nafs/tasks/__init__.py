"""Tasks that evaluate embeddings of any origin: clustering, link prediction, classification."""

from nafs.links import LinkSplit, score_links, split_links
from nafs.tasks.class_vote import embeddings_for_classes, evaluate_class_vote
from nafs.tasks.classification import evaluate_classification, random_splits
from nafs.tasks.clustering import cluster, evaluate_clustering
from nafs.tasks.links import evaluate_links
from nafs.tasks.result import TaskResult

__all__ = [
    "LinkSplit",
    "TaskResult",
    "cluster",
    "embeddings_for_classes",
    "evaluate_class_vote",
    "evaluate_classification",
    "evaluate_clustering",
    "evaluate_links",
    "random_splits",
    "score_links",
    "split_links",
]
