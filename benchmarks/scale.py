"""The disk engine on random graphs with the shape of ogbn-papers100M, at 1 % of its size and more.

    python benchmarks/scale.py FOLDER [SHARE ...] [--order] [--float16]

For each share (by default 0.01, 0.03 and 0.1) of 111,059,956 nodes, 1,615,685,872 edges and 128 features, it
writes an edge list in Parquet and random features to FOLDER, and runs ``nafs convert`` and ``nafs embed`` on
them. With ``--order`` nodes are renumbered by community while the graph is converted. The memory limit is in
proportion to the size: 6 GB for a share of 0.1, and 4.2 GB with ``--float16``. It prints a line for each run,
and draws time against size, with the exponent, as scale.png. Finished steps are kept in FOLDER: run the same
command again to resume.
"""

from __future__ import annotations

import argparse
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
HALF_LIMIT = 42_000_000_000  # the same with float16
_ROWS = 1 << 20


def main(folder: Path, shares: list[float], *, order: bool, float16: bool) -> None:
    folder.mkdir(exist_ok=True)
    file = folder / "scale.json"
    results = json.loads(file.read_text()) if file.exists() else {}

    def keep(name: str, result: dict[str, Any]) -> None:
        results[name] = result
        file.write_text(json.dumps(results, indent=2) + "\n")

    for share in shares:
        options = [*(["--order"] if order else []), *(["--float16"] if float16 else [])]
        name = " ".join([f"{share:g}", *options])
        target, limit = folder / name.replace(" --", "-"), round((HALF_LIMIT if float16 else LIMIT) * share)
        if name not in results:
            keep(name, convert(target, share, limit, order=order))
        if "embed" not in results[name]:
            keep(name, {**results[name], "embed": embed(target, limit, float16=float16)})
        print(name, json.dumps(results[name]), flush=True)
    draw({name: result for name, result in results.items() if " " not in name}, folder / "scale.png")


def convert(target: Path, share: float, limit: int, *, order: bool) -> dict[str, Any]:
    """Generate and convert one graph."""
    n, m = round(NODES * share), round(EDGES * share)
    target.mkdir(exist_ok=True)
    edges, features = target / "edges.parquet", target / "features.npy"
    write_edges(edges, n, m)
    write_features(features, n)
    options = ["--force", *(["--order"] if order else [])]
    step = command(limit, "convert", edges, target / "graph", "-f", features, *options)
    edges.unlink()
    features.unlink()
    size = sum(path.stat().st_size for path in (target / "graph").iterdir())
    return {"nodes": n, "edges": m, "graph_bytes": size, "machine": machine(), "convert": step}


def embed(target: Path, limit: int, *, float16: bool) -> dict[str, float]:
    """Embed a converted graph."""
    options = ["--force", "--engine", "disk", *(["--float16"] if float16 else [])]
    output = target / "embedding.npy"
    step = command(limit, "embed", target / "graph", "-o", output, *options, "--hops", HOPS, "--r", 0.5)
    output.unlink()
    return step


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

    sizes = sorted((name for name in results if "embed" in results[name]), key=float)
    if not sizes:
        return
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("shares", type=float, nargs="*", default=[0.01, 0.03, 0.1])
    parser.add_argument("--order", action="store_true", help="renumber nodes by community while converting")
    parser.add_argument("--float16", action="store_true", help="keep states in half precision")
    chosen = parser.parse_args()
    main(chosen.folder, chosen.shares, order=chosen.order, float16=chosen.float16)
