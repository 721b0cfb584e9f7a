"""What the paper reports, in percent, and the number of hops that it chose for each data set.

W. Zhang et al., "NAFS: A Simple yet Tough-to-beat Baseline for Graph Representation Learning", ICML 2022.
"""

from __future__ import annotations

Numbers = dict[str, dict[str, tuple[float, ...]]]

VARIANTS = ("mean", "max", "concat")
CITATIONS = ("cora", "citeseer", "pubmed")

# AUC and AP
LINKS: Numbers = {
    "mean": {"cora": (92.6, 93.9), "citeseer": (94.9, 95.9), "pubmed": (97.4, 97.2)},
    "max": {"cora": (93.0, 94.2), "citeseer": (94.8, 96.0), "pubmed": (97.5, 97.1)},
    "concat": {"cora": (92.6, 93.8), "citeseer": (93.7, 93.1), "pubmed": (97.6, 97.2)},
}
LINK_HOPS = {
    "mean": {"cora": 9, "citeseer": 4, "pubmed": 6},
    "max": {"cora": 8, "citeseer": 4, "pubmed": 5},
    "concat": {"cora": 10, "citeseer": 12, "pubmed": 6},
}
LINK_R: dict[str, tuple[float, ...]] = {"pubmed": (0.3, 0.4, 0.5)}
LINKS_OF_OTHERS: Numbers = {
    "SC": {"cora": (84.6, 88.5), "citeseer": (80.5, 85.0), "pubmed": (84.2, 87.8)},
    "DeepWalk": {"cora": (83.1, 85.0), "citeseer": (80.5, 83.6), "pubmed": (84.4, 84.1)},
    "GAE": {"cora": (91.0, 92.0), "citeseer": (89.5, 89.9), "pubmed": (96.4, 96.5)},
    "VGAE": {"cora": (91.4, 92.6), "citeseer": (90.8, 92.0), "pubmed": (94.4, 94.7)},
    "ARGA": {"cora": (92.4, 93.2), "citeseer": (91.9, 93.0), "pubmed": (96.8, 97.1)},
    "ARVGA": {"cora": (92.4, 92.6), "citeseer": (92.4, 93.0), "pubmed": (96.5, 96.8)},
    "GALA": {"cora": (92.1, 92.2), "citeseer": (94.4, 94.8), "pubmed": (93.5, 94.5)},
    "AGE": {"cora": (95.1, 94.6), "citeseer": (96.3, 96.6), "pubmed": (94.3, 93.5)},
}

# ACC, NMI and ARI
CLUSTERED = (*CITATIONS, "wiki")
CLUSTERS: Numbers = {
    "mean": {
        "cora": (70.4, 56.6, 48.0),
        "citeseer": (71.8, 45.1, 47.6),
        "pubmed": (70.5, 33.9, 33.2),
        "wiki": (54.6, 49.4, 27.3),
    },
    "max": {
        "cora": (70.8, 56.6, 49.0),
        "citeseer": (70.1, 45.1, 44.7),
        "pubmed": (70.6, 33.4, 33.1),
        "wiki": (51.4, 45.8, 25.5),
    },
    "concat": {
        "cora": (75.4, 58.6, 53.8),
        "citeseer": (71.1, 45.8, 46.1),
        "pubmed": (70.5, 33.9, 33.2),
        "wiki": (53.6, 50.5, 26.3),
    },
}
CLUSTER_HOPS = {
    "mean": {"cora": 17, "citeseer": 15, "pubmed": 56, "wiki": 8},
    "max": {"cora": 10, "citeseer": 10, "pubmed": 65, "wiki": 10},
    "concat": {"cora": 19, "citeseer": 10, "pubmed": 55, "wiki": 7},
}
CLUSTERS_OF_OTHERS: Numbers = {
    "GAE": {
        "cora": (53.3, 40.7, 30.5),
        "citeseer": (41.3, 18.3, 19.1),
        "pubmed": (63.1, 24.9, 21.7),
        "wiki": (37.9, 34.5, 18.9),
    },
    "AGC": {
        "cora": (68.9, 53.7, 48.6),
        "citeseer": (66.9, 41.1, 41.9),
        "pubmed": (69.8, 31.6, 31.8),
        "wiki": (47.7, 45.3, 34.3),
    },
    "DAEGC": {
        "cora": (70.2, 52.6, 49.7),
        "citeseer": (67.2, 39.7, 41.1),
        "pubmed": (66.8, 26.6, 27.7),
        "wiki": (48.2, 44.8, 33.1),
    },
    "AGE": {
        "cora": (72.8, 58.1, 56.3),
        "citeseer": (70.0, 44.6, 45.4),
        "pubmed": (69.9, 30.1, 31.4),
        "wiki": (51.1, 53.9, 36.4),
    },
}

# Accuracy on the public split
CLASSES: Numbers = {
    "mean": {"cora": (84.2,), "citeseer": (73.2,), "pubmed": (80.5,)},
    "max": {"cora": (83.8,), "citeseer": (73.4,), "pubmed": (80.4,)},
    "concat": {"cora": (84.1,), "citeseer": (73.5,), "pubmed": (80.3,)},
}
CLASSES_OF_OTHERS: Numbers = {
    "GCN": {"cora": (81.8,), "citeseer": (70.8,), "pubmed": (79.3,)},
    "SGC": {"cora": (81.0,), "citeseer": (71.3,), "pubmed": (78.9,)},
    "GAT": {"cora": (83.0,), "citeseer": (72.5,), "pubmed": (79.0,)},
    "APPNP": {"cora": (83.3,), "citeseer": (71.8,), "pubmed": (79.7,)},
    "DAGNN": {"cora": (84.4,), "citeseer": (73.3,), "pubmed": (80.5,)},
}
