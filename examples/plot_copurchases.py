"""
Communities of a real co-purchase graph
=======================================

7,650 cameras, lenses and other photo products of a web shop. Two products are linked if customers often buy
both, and each is described by the words of its reviews. The communities are found without labels. The
categories of the shop are used only at the end, to see what the communities hold.

The data set is downloaded on first use, or by ``nafs datasets fetch amazon-photo``.
"""

import matplotlib.pyplot as plt
import numpy as np

import nafs
from nafs.datasets import load_dataset
from nafs.pictures import plot_map

graph = load_dataset("amazon-photo").graph
clusters = nafs.cluster(graph, 8)
print(clusters.explain())

# %%
# Which categories of the shop does each community hold? Rows add up to one.
communities = np.asarray(clusters.to_pandas()["cluster"])
names, rows = np.unique(communities, return_inverse=True)
categories = graph.labels.codes
share = np.zeros((len(names), categories.max() + 1))
np.add.at(share, (rows, categories), 1)
share /= share.sum(axis=1, keepdims=True)

embedding = nafs.embed(graph, n_hops=10)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", width_ratios=(1.2, 1))
plot_map(embedding, [str(name) for name in communities], title="communities", axis=left)
picture = right.imshow(share[np.argsort(share.argmax(axis=1))], cmap="cividis", vmin=0, vmax=1)
right.set_xlabel("category of the shop")
right.set_ylabel("community")
right.set_yticks([])
figure.colorbar(picture, ax=right, label="share of the community's products", shrink=0.8)
plt.show()
