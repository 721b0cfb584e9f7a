"""
A few labels, classes for all
=============================

Forty of 240 papers have a topic. The classes of the others follow from their titles, venues and citations,
with calibrated probabilities.
"""

import matplotlib.pyplot as plt
import numpy as np

import nafs
from nafs.datasets import example_table

graph = nafs.read_graph(example_table("citations"), example_table("papers"), example_table("known_topics"))
answer = nafs.embed(graph, n_hops="auto").classify()
print(answer.explain())

truth = dict(line.split(",") for line in example_table("all_topics").read_text().splitlines()[1:])
table = answer.to_pandas()
unseen = table[table.label.isna()]
right = unseen.predicted.to_numpy() == np.array([truth[key] for key in unseen.id])

figure, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
bins = np.linspace(0.25, 1, 16)
axis.hist(unseen.probability[right], bins, color="#0072b2", label=f"right ({right.sum()})")
axis.hist(unseen.probability[~right], bins, color="#d55e00", label=f"wrong ({(~right).sum()})")
axis.set_xlabel("probability of the predicted class")
axis.set_ylabel("papers without a label")
axis.legend(frameon=False)
axis.spines[["top", "right"]].set_visible(False)
plt.show()
