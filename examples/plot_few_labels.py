"""
A few labels, classes for all
=============================

Forty of 240 papers have a topic (left). The topics of the others follow from their titles, venues and
citations, each with a probability: larger points are more certain, and circles mark the mistakes (right).
"""

import matplotlib.pyplot as plt
import numpy as np
from openTSNE import TSNE

import nafs
from nafs.datasets import example_table

graph = nafs.read_graph(example_table("citations"), example_table("papers"), example_table("known_topics"))
embedding = nafs.embed(graph, n_hops="auto")
answer = embedding.classify(graph=graph)
print(answer.explain())

truth = dict(line.split(",") for line in example_table("all_topics").read_text().splitlines()[1:])
table = answer.to_pandas()
known = table.label.notna().to_numpy()
wrong = table.predicted.to_numpy() != np.array([truth[key] for key in table.paper])
topics = sorted(table.predicted.unique())
colours = np.array([("#0072b2", "#d55e00", "#009e73", "#cc79a7")[topics.index(t)] for t in table.predicted])
x, y = TSNE(perplexity=20, metric="cosine", random_state=0).fit(embedding.matrix).T

figure, (before, after) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
before.scatter(x[~known], y[~known], s=18, color="#d0d0d0")
before.scatter(x[known], y[known], s=45, c=colours[known], edgecolor="black", linewidth=0.6)
before.set_title(f"{known.sum()} papers have a topic")
after.scatter(x, y, s=8 + 40 * table.probability, c=colours, alpha=0.85, linewidth=0)
after.scatter(x[wrong], y[wrong], s=130, facecolor="none", edgecolor="black")
after.set_title(f"all {len(table)} have one; {wrong[~known].sum()} of {(~known).sum()} are wrong")
for topic in topics:
    after.scatter([], [], color=colours[table.predicted == topic][0], label=topic)
after.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
for axis in (before, after):
    axis.set_xticks([])
    axis.set_yticks([])
    axis.spines[:].set_visible(False)
plt.show()
