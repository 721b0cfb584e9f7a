"""
An update tomorrow
==================

Yesterday's embedding covers a network of 2,500 stations. Today twelve stations are added. An update
recomputes only the nodes that they can reach within the number of hops, and its result agrees with embedding
the whole new graph.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import kneighbors_graph

from nafs import Graph
from nafs.model import Model
from nafs.smoothing import Method

random = np.random.default_rng(0)
places = random.random((2512, 2))
readings = np.column_stack([np.sin(6 * places), np.cos(5 * places), random.normal(size=(2512, 4))])
near = kneighbors_graph(places, 5)
near = near.maximum(near.T).tocsr()
old = 2500

method = Method(3, (0.5,))
model = Model.build(Graph(near[:old, :old], readings[:old]), method)
before = model.matrix.copy()

# %%
# The new stations come with their readings and their nearest neighbours.
sources, targets = near[old:].nonzero()
report = model.update(edges=(sources + old, targets), features=(np.arange(old, 2512), readings[old:]))
print(report.explain())

again = Model.build(Graph(model.graph.adjacency, readings), method)
print(f"largest difference to embedding everything again: {np.abs(again.matrix - model.matrix).max():.1e}")

# %%
# Only the surroundings of the new stations changed.
change = np.abs(model.matrix[:old] - before).max(axis=1)
moved = change > 0
figure, axis = plt.subplots(figsize=(6.5, 5.6), layout="constrained")
axis.scatter(*places[:old][~moved].T, s=6, color="#cccccc", label=f"unchanged ({(~moved).sum():,})")
points = axis.scatter(*places[:old][moved].T, s=14, c=np.log10(change[moved]), cmap="viridis")
axis.scatter(*places[old:].T, s=120, marker="*", color="#d55e00", edgecolor="white", label="new stations")
figure.colorbar(points, ax=axis, label="largest change of a station's vector, log10", shrink=0.8)
axis.legend(loc="upper left", fontsize="small")
axis.set_xticks([])
axis.set_yticks([])
axis.set_title(f"{report.recomputed:,} of {report.n_nodes:,} embeddings recomputed")
plt.show()
