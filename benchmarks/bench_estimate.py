"""The time that ``nafs plan`` states against the run itself, for all engines and different graphs."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from common import THREADS, Result, amazon, arxiv, random_features

from nafs.datasets import load_dataset, power_law
from nafs.engines.base import FeatureSize, Problem
from nafs.engines.probe import guess_seconds
from nafs.engines.registry import find_engine
from nafs.engines.resources import Resources
from nafs.graph import Adjacency, Features, read_features
from nafs.smoothing import Method

_NAMES = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "PubMed", "amazon-photo": "Photo", "wiki": "Wiki"}


def run() -> list[Result]:
    results = []
    for name, title in _NAMES.items():
        graph = load_dataset(name).graph
        results.append(_compare(title, graph.adjacency, _features(graph.features), Method(20)))
    for title, topology, n_columns in (("arXiv", arxiv(), 64), ("amazon0601", amazon(), 128)):
        features = read_features(random_features(topology.n_nodes, n_columns))
        results.append(_compare(title, topology, features, Method(20)))
    large = power_law(300_000, average_degree=20, n_features=64)
    features, one_r = _features(large.features), Method(10, (0.5,))
    results.append(_compare("power law", large.adjacency, features, one_r))
    results.append(_compare("power law", large.adjacency, features, one_r, "disk", 80_000_000))
    results.append(_compare("power law", large.adjacency, features, one_r, "dask"))
    return results


def _features(features: Features | None) -> Features:
    assert features is not None
    return features


def _compare(
    title: str,
    graph: Adjacency,
    features: Features,
    method: Method,
    engine: str = "memory",
    limit: int | None = None,
) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        work_dir = None if engine == "memory" else str(Path(folder) / "work")
        resources = Resources(engine=engine, memory_limit=limit, n_threads=THREADS, work_dir=work_dir)
        problem = Problem(graph, FeatureSize.of(features), method, resources)
        chosen = find_engine(engine)
        plan = chosen.plan(problem)
        stated = guess_seconds(problem, plan)
        start = time.perf_counter()
        chosen.run(problem, plan, features)
        took = time.perf_counter() - start
    shape = f"{graph.n_nodes:,} nodes x {features.shape[1]:,}"
    detail = f"stated {stated:.3g} s, run {took:.3g} s; {plan.strategy}"
    off = float(np.exp(abs(np.log(stated / took))))
    return Result.at_most(
        f"stated and actual time apart by a factor, {engine}, {title}, {shape}", off, 2, detail
    )
