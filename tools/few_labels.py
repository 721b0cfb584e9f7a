"""Classes from few labels: what nodes without a label, and each node's own features, add to a regression.

    python tools/few_labels.py

For each graph, 5 and 20 nodes of each class are drawn five times; all others are predicted. The last column
is what `nafs classify` does. Measured graphs are kept in docs/data/few_labels.json: delete it to measure
them again. The table is written into docs/quality.md. The last five graphs need the packages that
tools/text_networks.py names, and are left out without them.
"""

from __future__ import annotations

import numpy as np
from kept import DOCS, measure_missing
from numpy.typing import NDArray
from text_networks import UNSEEN, graph_of

from nafs import embed
from nafs._support.blas import one_blas_thread
from nafs.answers import width_for_classes
from nafs.answers.classes import _own_features, _scales
from nafs.answers.held_out import validate
from nafs.answers.prediction import Prediction
from nafs.answers.sources import Sources, Vectors, cloud_of, learning_nodes
from nafs.reproduce.marked import fill, markdown
from nafs.reproduce.quality import HALVES, data_of, present

NUMBERS = (5, 20)  # labels of each class
DRAWS = 5
WAYS = ("regression", "with nodes without a label", "and own features")


def predicted(
    sources: Sources, nodes: NDArray[np.int64], places: NDArray[np.int64], seed: int
) -> NDArray[np.int64]:
    """The class of every node."""
    prediction = Prediction(sources, nodes, places, validate(sources, nodes, places, seed))
    return np.concatenate([block.argmax(axis=1) for _, block in prediction.blocks()])


@one_blas_thread()
def measure(name: str) -> dict[str, list[list[float]]]:
    """For each number of labels and each draw, the accuracy of each way in percent."""
    graph = graph_of(UNSEEN[name]()) if name in UNSEEN else data_of(name).graph
    assert graph.labels is not None
    codes = graph.labels.codes
    known = np.flatnonzero(codes >= 0)
    matrix = np.asarray(embed(graph, n_hops="auto", dim=width_for_classes(graph)[0]).matrix)
    scores: dict[str, list[list[float]]] = {}
    for number in NUMBERS:
        for seed in range(DRAWS):
            rng = np.random.default_rng(seed)
            members = (rng.permutation(np.flatnonzero(codes == code)) for code in np.unique(codes[known]))
            nodes = np.sort(np.concatenate([nodes[:number] for nodes in members]))
            classes, places = np.unique(codes[nodes], return_inverse=True)
            learned = learning_nodes(len(matrix), nodes, seed)
            vectors = Vectors(matrix, _scales(matrix, nodes))
            cloud = cloud_of(matrix, learned, nodes, len(classes))
            own = _own_features(graph, learned, len(matrix))
            others = np.setdiff1d(known, nodes)
            accuracies = []
            for sources in (
                Sources(vectors, None, None),
                Sources(vectors, cloud, None),
                Sources(vectors, cloud, own),
            ):
                right = classes[predicted(sources, nodes, places, seed)][others] == codes[others]
                accuracies.append(round(100 * float(right.mean()), 2))
            scores.setdefault(str(number), []).append(accuracies)
    return scores


def table(measured: dict[str, dict[str, list[list[float]]]]) -> list[str]:
    """One line for each graph, and one with the means."""
    means = {
        name: [np.mean(scores[str(number)], axis=0) for number in NUMBERS]
        for name, scores in measured.items()
    }
    means["mean"] = list(np.mean(list(means.values()), axis=0))
    header = ["graph", *(f"{number} labels: {way}" for number in NUMBERS for way in WAYS)]
    rows = [[name, *(f"{value:.1f}" for values in both for value in values)] for name, both in means.items()]
    return markdown(header, rows)


def main() -> None:
    """Measure graphs that are missing, and write the table."""
    names = [*present([name for half in HALVES.values() for name in half]), *UNSEEN]
    measured = measure_missing("few_labels", names, measure)
    page = DOCS / "quality.md"
    page.write_text(fill(page.read_text(encoding="utf-8"), {"few-labels": table(measured)}), encoding="utf-8")


if __name__ == "__main__":
    main()
