"""
Over-smoothing, hop by hop
==========================

Plain smoothing makes all nodes of a component alike. NAFS weights the hops of each node, so that clusters
survive many more hops.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from nafs import NAFS, smoothed_features
from nafs.datasets import contextual_sbm

graph = contextual_sbm(600, n_classes=4, average_degree=10, homophily=0.85, n_features=16, signal=0.9, seed=0)
truth = graph.labels.codes
hops = [0, 1, 2, 4, 8, 16, 32, 64, 128]


def nmi(matrix):
    """Agreement of K-means clusters with the classes."""
    return normalized_mutual_info_score(truth, KMeans(4, n_init=5, random_state=0).fit_predict(matrix))


adaptive = [nmi(Z) for _, Z in NAFS().sweep(graph, hops=hops)]
plain = [nmi(smoothed_features(graph.features.toarray(), graph.adjacency, k)) for k in hops]

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
places = np.arange(len(hops))
axis.plot(places, plain, "o--", color="#d55e00", label="plain smoothing: hop k alone")
axis.plot(places, adaptive, "o-", color="#0072b2", label="NAFS: weighted sum of hops 0..k")
axis.set_xticks(places, hops)
axis.set_xlabel("hops k")
axis.set_ylabel("NMI of clusters and classes")
axis.set_ylim(0, 1)
axis.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 0.06))
axis.spines[["top", "right"]].set_visible(False)
plt.show()
