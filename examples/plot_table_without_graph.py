"""
A table without any graph
=========================

The rows of a plain table are smoothed over their nearest neighbours. Clusters of handwritten digits get
closer to the digits, although no label is used.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score

from nafs import NAFS

pixels, digits = load_digits(return_X_y=True)
smoothed = NAFS(n_hops=20).fit_transform(pixels)

figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for axis, matrix, title in ((axes[0], pixels, "pixels"), (axes[1], smoothed, "after 20 hops")):
    place = PCA(2).fit_transform(matrix)
    clusters = KMeans(10, n_init=5, random_state=0).fit_predict(matrix)
    score = normalized_mutual_info_score(digits, clusters)
    axis.scatter(*place.T, c=digits, cmap="tab10", s=5)
    axis.set_title(f"{title}: NMI of clusters and digits {score:.2f}")
    axis.set_xticks([])
    axis.set_yticks([])
plt.show()
