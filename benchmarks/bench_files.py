"""From files to a file: `nafs embed` by stage, against pandas + SciPy + NumPy and against pycleora.

The topology is amazon0601 with string ids in random order and 128 random features. Each runs in a separate
process, measured from start to end, with the same number of propagations. pycleora reads its own text format,
starts from its own random vectors instead of the features, and only normalises after each step.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from common import THREADS, MissingDataError, Result, amazon, random_features

COLUMNS, HOPS, TURNS = 128, 20, 2
_HERE = Path(__file__).parent


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        turns = [whole_process(folder, "ours") for _ in range(TURNS)]
        total = statistics.median(seconds for seconds, _ in turns)
        stages = {stage: statistics.median(parts[stage] for _, parts in turns) for stage in turns[0][1]}
        stages["start"] = total - sum(stages.values())
        shown = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in stages.items())
        results = [
            Result.at_most(
                f"{stage} / all of `nafs embed`, amazon0601 with string ids x {COLUMNS}",
                seconds / total,
                0.2,
                shown if stage == "read" else f"{seconds:.1f} of {total:.1f} s",
            )
            for stage, seconds in stages.items()
            if stage != "smooth"
        ]
        for label, function, bound in (
            ("pandas + SciPy + NumPy", "with_pandas", 5.0),
            ("pycleora, no features", "with_pycleora", 1.0),
        ):
            try:
                theirs, parts = whole_process(folder, function)
            except (MissingDataError, RuntimeError) as reason:  # the other lines are still valid
                print(f"skipped {label}: {reason}")
                continue
            shown = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in parts.items())
            results.append(
                Result.at_least(
                    f"{label} / nafs, from files to a file, {HOPS} hops x six r",
                    theirs / total,
                    bound,
                    f"nafs {total:.1f} s, {label.split(',')[0]} {theirs:.1f} s: {shown}",
                )
            )
    return results


def write_inputs(folder: Path) -> None:
    """Tables of edges and features with rows and ids in random order, and the edges as text."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    graph = amazon()
    rng = np.random.default_rng(0)
    ids = np.array([f"B{number:09d}" for number in rng.permutation(graph.n_nodes)])
    sources, targets = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr)), graph.indices
    edges = rng.permutation(np.flatnonzero(sources < targets))
    table = pa.table({"source": ids[sources[edges]], "target": ids[targets[edges]]})
    pq.write_table(table, folder / "edges.parquet")
    plain = pa.csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    pa.csv.write_csv(table, folder / "edges.txt", plain)
    rows = rng.permutation(graph.n_nodes)
    X = random_features(graph.n_nodes, COLUMNS)[rows]
    columns = {f"f{column}": X[:, column] for column in range(COLUMNS)}
    pq.write_table(pa.table({"id": ids[rows], **columns}), folder / "features.parquet")


def whole_process(folder: Path, function: str) -> tuple[float, dict[str, float]]:
    """Seconds of a process from its start to its end, and of the stages that it reports."""
    code = f"import sys; sys.path.insert(0, {str(_HERE)!r}); import bench_files; bench_files.{function}()"
    start = time.perf_counter()
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if process.returncode:
        if "ModuleNotFoundError" in process.stderr:
            raise MissingDataError(process.stderr.splitlines()[-1])
        raise RuntimeError(process.stderr)
    return seconds, json.loads(process.stdout.splitlines()[-1])


class Stages:
    """Seconds of the parts of a run, printed at its end."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def done(self, stage: str) -> None:
        """Assign the time since the last stage to this one."""
        now = time.perf_counter()
        self.seconds[stage] = now - self._last
        self._last = now

    def timed(self, stage: str, function: Callable[..., object]) -> Callable[..., object]:
        """The function, with its time counted."""

        def call(*arguments: object, **options: object) -> object:
            start = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start

        return call

    def print(self) -> None:
        """Print the stages as JSON."""
        print(json.dumps(self.seconds))


def ours() -> None:
    """`nafs embed`, with the time for ids and for the order of nodes as separate stages."""
    import contextlib
    import io

    from nafs.cli.main import main
    from nafs.engines import memory
    from nafs.readers import edge_tables

    stages = Stages()
    edge_tables.number_edges = stages.timed("number ids", edge_tables.number_edges)
    memory.community_order = stages.timed("order", memory.community_order)
    sys.argv = ["nafs", "embed", "edges.parquet", "--features", "features.parquet", "-o", "z.parquet"]
    sys.argv += ["--hops", str(HOPS), "--threads", str(THREADS), "--force", "--json"]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main()
    inner, whole = stages.seconds, json.loads(out.getvalue())["seconds"]
    stages.seconds = {
        "read": whole["read"] - inner["number ids"],
        "number ids": inner["number ids"],
        "choose": whole["decide"],
        "order": inner.get("order", 0.0),
        "smooth": whole["smooth"] - inner.get("order", 0.0),
        "write": whole["write"],
    }
    stages.print()


def with_pandas() -> None:
    """A hand-written solution."""
    import pandas as pd
    import scipy.sparse as sp
    from peers import scipy_nafs

    from nafs.smoothing.method import DEFAULT_R

    stages = Stages()
    edges, features = pd.read_parquet("edges.parquet"), pd.read_parquet("features.parquet")
    stages.done("read")
    codes, ids = pd.factorize(pd.concat([edges["source"], edges["target"]], ignore_index=True))
    sources, targets = np.split(codes, 2)
    n = len(ids)
    A = sp.coo_array((np.ones(len(sources), np.float32), (sources, targets)), shape=(n, n)).tocsr()
    A = A.maximum(A.T).tocsr()
    X = np.ascontiguousarray(features.set_index("id").loc[ids].to_numpy(np.float32))
    stages.done("number ids")
    Z = scipy_nafs(A, X, HOPS, DEFAULT_R)
    stages.done("smooth")
    table = pd.DataFrame(Z, columns=[f"z{column}" for column in range(Z.shape[1])])
    table.insert(0, "id", ids)
    table.to_parquet("pandas.parquet")
    stages.done("write")
    stages.print()


def with_pycleora() -> None:
    """The reader, propagation and writer of pycleora."""
    from pycleora import SparseMatrix
    from pycleora.io_utils import save_embeddings

    from nafs.smoothing.method import DEFAULT_R

    stages = Stages()
    graph = SparseMatrix.from_files(["edges.txt"], "complex::reflexive::node", num_workers=THREADS)
    stages.done("read")
    Z = graph.embed_fast(COLUMNS, HOPS * len(DEFAULT_R), num_workers=THREADS)
    stages.done("smooth")
    save_embeddings(graph, Z, "pycleora.parquet", format="parquet")
    stages.done("write")
    stages.print()
