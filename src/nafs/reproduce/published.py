"""The numbers that the paper reports, in percent, and the hops that its authors' program uses.

W. Zhang et al., "NAFS: A Simple yet Tough-to-beat Baseline for Graph Representation Learning", ICML 2022. The
paper itself only says that the best of 1 to 70 hops was used.
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
    "VGAE": {
        "cora": (56.0, 38.5, 34.7),
        "citeseer": (44.4, 22.7, 20.6),
        "pubmed": (65.5, 25.0, 20.3),
        "wiki": (45.1, 46.8, 26.3),
    },
    "MGAE": {
        "cora": (63.4, 45.6, 43.6),
        "citeseer": (63.5, 39.7, 42.5),
        "pubmed": (59.3, 28.2, 24.8),
        "wiki": (52.9, 51.0, 37.9),
    },
    "ARGA": {
        "cora": (63.9, 45.1, 35.1),
        "citeseer": (57.3, 35.2, 34.0),
        "pubmed": (68.0, 27.6, 29.0),
        "wiki": (38.1, 34.5, 11.2),
    },
    "ARVGA": {
        "cora": (64.0, 44.9, 37.4),
        "citeseer": (54.4, 25.9, 24.5),
        "pubmed": (51.3, 11.7, 7.8),
        "wiki": (38.7, 33.9, 10.7),
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
    "JK-Net": {"cora": (81.9,), "citeseer": (70.7,), "pubmed": (78.8,)},
    "C&S": {"cora": (76.7,), "citeseer": (70.8,), "pubmed": (76.5,)},
    "SGC": {"cora": (81.0,), "citeseer": (71.3,), "pubmed": (78.9,)},
    "GAT": {"cora": (83.0,), "citeseer": (72.5,), "pubmed": (79.0,)},
    "PPRGo": {"cora": (82.4,), "citeseer": (71.3,), "pubmed": (80.0,)},
    "APPNP": {"cora": (83.3,), "citeseer": (71.8,), "pubmed": (79.7,)},
    "DAGNN": {"cora": (84.4,), "citeseer": (73.3,), "pubmed": (80.5,)},
}

# NDLS, reported next to NAFS-concat
NDLS: dict[str, dict[str, tuple[float, ...]]] = {
    "clustering": {
        "cora": (70.6, 52.9, 47.4),
        "citeseer": (67.5, 41.2, 43.5),
        "pubmed": (70.9, 34.6, 34.3),
        "wiki": (36.6, 36.1, 18.2),
    },
    "links": {"cora": (90.6, 91.3), "citeseer": (92.5, 92.8), "pubmed": (95.3, 95.1)},
}

# AUC and AP of link prediction on PubMed after a share of the edges, or of the features, is removed
REMOVED = (0.0, 0.2, 0.4, 0.6)
WITHOUT_EDGES = {
    "GAE": ((96.4, 96.5), (93.4, 93.7), (92.6, 92.4), (90.6, 90.4)),
    "NAFS-mean": ((97.4, 97.2), (96.9, 96.4), (95.9, 95.2), (94.3, 93.5)),
}
WITHOUT_FEATURES = {
    "GAE": ((96.4, 96.5), (89.5, 90.4), (83.5, 85.5), (77.4, 80.9)),
    "NAFS-mean": ((97.4, 97.2), (93.1, 94.4), (87.7, 91.0), (81.7, 86.8)),
}

# How many times as long as NAFS, on PubMed
SPEEDUPS = {"GAE": 65.4, "AGE": 88.6}

# Seconds on uniform samples of the nodes of ogbn-products; None: out of memory (24 GB GPU; NAFS on CPU)
SAMPLES = (10_000, 20_000, 30_000, 50_000, 100_000)
SAMPLE_SECONDS: dict[str, tuple[float | None, ...]] = {
    "GAE": (10.2, 36.3, None, None, None),
    "AGE": (68.5, 256.2, 727.7, 2315.7, None),
    "NAFS-mean": (2.8, 6.5, 10.8, 13.8, 23.7),
}

# (nodes, seconds) on random graphs as reported in the text, and the size at which memory ran out
RANDOM_SECONDS = {"NAFS": (100_000, 66.1), "AGE": (10_000, 80.9)}
RANDOM_OUT_OF_MEMORY = {"GAE": 30_000, "AGE": 80_000}
