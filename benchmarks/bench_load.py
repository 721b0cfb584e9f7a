"""Reading edge lists with string ids: time against pandas + NetworkX, memory against the graph's size."""

from __future__ import annotations

import tempfile
from pathlib import Path

from common import Result, in_fresh_process, peak_memory, ratio_of, show_seconds, side_by_side

EDGES, NODES = 10_000_000, 1_000_000
DUCKDB_LIMIT = 10**9  # the setting of the readers


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        few, many = Path(folder) / "few.parquet", Path(folder) / "many.parquet"
        write_edges(few, EDGES // 10)
        write_edges(many, EDGES)
        slow, fast = side_by_side(lambda: on_networkx(few), lambda: ours(few), repeats=3, warm_up=False)
        growth, final, seconds = in_fresh_process("bench_load", "measure", str(many))
    return [
        Result.at_least(
            "pandas + NetworkX / nafs, 1M edges with string ids from Parquet",
            ratio_of(slow, fast),
            5,
            show_seconds(nafs=fast, networkx=slow),
        ),
        Result.at_most(
            "peak growth / (3 x graph + DuckDB's limit), 10M edges with string ids",
            growth / (3 * final + DUCKDB_LIMIT),
            1,
            f"peak growth {growth / 1e6:.0f} MB, DuckDB's limit {DUCKDB_LIMIT / 1e6:.0f} MB, "
            f"graph {final / 1e6:.0f} MB; {seconds:.1f} s",
        ),
    ]


def write_edges(path: Path, count: int) -> None:
    import duckdb

    with duckdb.connect() as duck:
        duck.execute("SELECT setseed(0.5)").fetchall()
        duck.execute(
            f"COPY (SELECT 'user_' || (random() * random() * {NODES})::INT AS source, "
            f"'user_' || (random() * {NODES})::INT AS target FROM range({count})) TO '{path}'"
        ).fetchall()


def on_networkx(path: Path) -> None:
    import networkx
    import pandas

    graph = networkx.from_pandas_edgelist(pandas.read_parquet(path))
    networkx.to_scipy_sparse_array(graph)


def ours(path: Path) -> None:
    from nafs import read_graph

    read_graph(path)


def measure(path: str) -> tuple[int, int, float]:
    """Runs in a separate process: growth of peak memory, bytes of the graph, seconds."""
    import time

    import pyarrow as pa

    from nafs import from_edges, read_graph

    from_edges(pa.table({"source": ["a"], "target": ["b"]}))  # imports everything, so that it is not measured
    before = peak_memory()
    start = time.perf_counter()
    graph = read_graph(path)
    return peak_memory() - before, graph.nbytes, time.perf_counter() - start
