"""
Clusters, and what they are about
=================================

Clusters are found by the consensus of many partitions. Each one is described by the words, categories and
numbers that distinguish it.
"""

import matplotlib.pyplot as plt

import nafs
from nafs.datasets import example_table

graph = nafs.read_graph(example_table("citations"), example_table("papers"))
clusters = nafs.cluster(graph, 4)
print(clusters.explain())
table = clusters.description().to_pandas()
print(table[["name", "size", "distinguished_by"]].to_string(index=False))

figure, axis = plt.subplots(figsize=(8, 3.2), layout="constrained")
axis.barh(table.name, table["size"], color="#0072b2")
for place, row in table.iterrows():
    axis.text(row["size"] + 0.5, place, f"cohesion {row.cohesion:.2f}", va="center")
axis.set_xlabel("papers")
axis.set_xlim(0, table["size"].max() * 1.25)
axis.invert_yaxis()
axis.spines[["top", "right"]].set_visible(False)
plt.show()
