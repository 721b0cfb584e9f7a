"""
Missing links
=============

Pairs of papers that do not cite each other but look as if they should. A tenth of the citations is hidden,
and most of them are found again.
"""

import matplotlib.pyplot as plt
import numpy as np

import nafs
from nafs.datasets import example_table
from nafs.links import score_links, split_links

graph = nafs.read_graph(example_table("citations"), example_table("papers"))
split = split_links(graph, validation=0.02, test=0.1, seed=0)
embedding = nafs.embed(split.graph, n_hops=3, preprocessing="auto")
hidden = score_links(embedding.matrix, split.test, "cosine")
other = score_links(embedding.matrix, split.test_none, "cosine")

figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
bins = np.linspace(min(hidden.min(), other.min()), 1, 25)
axis.hist(other, bins, alpha=0.75, color="#999999", label="pairs without a citation")
axis.hist(hidden, bins, alpha=0.75, color="#009e73", label="hidden citations")
axis.set_xlabel("cosine of the two papers' vectors")
axis.set_ylabel("pairs")
axis.legend(frameon=False)
axis.spines[["top", "right"]].set_visible(False)
plt.show()

print(nafs.embed(graph, n_hops="auto", goal="links").suggest_links(graph, 5).to_pandas())
