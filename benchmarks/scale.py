"""The disk engine on random graphs with the shape of ogbn-papers100M, at 1 % to 10 % of its size.

    python benchmarks/scale.py FOLDER [SHARE ...]

For each share (by default 0.01, 0.03 and 0.1) of 111,059,956 nodes, 1,615,685,872 edges and 128 features, it
writes an edge list in Parquet and random features to FOLDER, and runs ``nafs convert`` and ``nafs embed`` on
them. The memory limit is in proportion to the size: 6 GB for a share of 0.1. It prints a line for each
share, and draws time against size, with the exponent, as scale.png.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from record import machine

NODES, EDGES, FEATURES = 111_059_956, 1_615_685_872, 128
HOPS, LIMIT = 10, 60_000_000_000  # bytes at full size; scaled with the share
_ROWS = 1 << 20


def main(folder: Path, shares: list[float]) -> None:
    folder.mkdir(exist_ok=True)
    file = folder / "scale.json"
    results = json.loads(file.read_text()) if file.exists() else {}
    for share in shares:
        if str(share) not in results:
            results[str(share)] = measure(folder, share)
            file.write_text(json.dumps(results, indent=2) + "\n")
        print(share, json.dumps(results[str(share)]), flush=True)
    draw(results, folder / "scale.png")


def measure(folder: Path, share: float) -> dict[str, Any]:
    """Generate, convert and embed one graph."""
    n, m = round(NODES * share), round(EDGES * share)
    target = folder / f"share-{share:g}"
    target.mkdir(exist_ok=True)
    write_edges(target / "edges.parquet", n, m)
    write_features(target / "features.npy", n)
    limit = round(LIMIT * share)
    convert = command(
        limit, "convert", target / "edges.parquet", target / "graph", "-f", target / "features.npy", "--force"
    )
    (target / "edges.parquet").unlink()
    (target / "features.npy").unlink()
    embed = command(
        limit,
        *("embed", target / "graph", "-o", target / "embedding.npy", "--force", "--engine", "disk"),
        *("--hops", HOPS, "--r", 0.5),
    )
    size = sum(path.stat().st_size for path in (target / "graph").iterdir())
    sizes = {"nodes": n, "edges": m, "graph_bytes": size}
    return {**sizes, "machine": machine(), "convert": convert, "embed": embed}


def write_edges(path: Path, n: int, m: int) -> None:
    """Random pairs of nodes whose degrees follow a power law, in random order."""
    rng = np.random.default_rng(0)
    names = rng.permutation(n).astype(np.int32)
    schema = pa.schema([("source", pa.int32()), ("target", pa.int32())])
    with pq.ParquetWriter(path, schema) as writer:
        for begin in range(0, m, _ROWS):
            count = min(_ROWS, m - begin)
            # n * u^3 has the density of a power law with exponent 2.5 in the expected degree.
            ends = [names[(n * rng.random(count) ** 3).astype(np.int64)], rng.integers(0, n, count, np.int32)]
            writer.write_table(pa.table(ends, schema=schema))


def write_features(path: Path, n: int) -> None:
    rng = np.random.default_rng(1)
    out = np.lib.format.open_memmap(path, "w+", np.float32, (n, FEATURES))
    for begin in range(0, n, _ROWS):
        rows = out[begin : begin + _ROWS]
        rows[:] = rng.standard_normal(rows.shape, dtype=np.float32)


def command(limit: int, *arguments: object) -> dict[str, float]:
    """Run a command with a memory limit; its seconds and peak anonymous memory."""
    start, peak = time.perf_counter(), 0
    process = subprocess.Popen(
        [sys.executable, "-m", "nafs", *map(str, arguments), "--memory-limit", str(limit), "--quiet"]
    )
    while process.poll() is None:
        try:
            for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    peak = max(peak, int(line.split()[1]) * 1024)
        except OSError:
            break
        time.sleep(0.05)
    if process.wait():
        raise SystemExit(f"{arguments[0]} failed")
    return {"seconds": time.perf_counter() - start, "anonymous_bytes": peak, "limit": limit}


def draw(results: dict[str, dict[str, Any]], path: Path) -> None:
    """Plot time against size, with the exponent between the smallest and the largest."""
    from matplotlib.figure import Figure

    sizes = sorted(results, key=float)
    nodes = [results[size]["nodes"] for size in sizes]
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axis = figure.subplots()
    for step, colour, marker in (("embed", "#0072b2", "o"), ("convert", "#d55e00", "s")):
        seconds = [results[size][step]["seconds"] for size in sizes]
        label = f"nafs {step}"
        if len(sizes) > 1:
            exponent = np.log(seconds[-1] / seconds[0]) / np.log(nodes[-1] / nodes[0])
            print(f"{step}: time grows with size to the power of {exponent:.2f}")
            label += f", exponent {exponent:.2f}"
        axis.plot(nodes, seconds, color=colour, marker=marker, label=label)
    axis.set(xscale="log", yscale="log", xlabel="nodes", ylabel="seconds")
    axis.set_title(f"ogbn-papers100M's shape, {FEATURES} features, {HOPS} hops, 6 GB for a tenth")
    axis.grid(alpha=0.3, which="both")
    axis.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), [float(share) for share in sys.argv[2:]] or [0.01, 0.03, 0.1])
