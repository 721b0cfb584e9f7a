"""Graphs of the shape of ogbn-papers100M, a hundredth and a tenth as large, through the disk engine.

    python benchmarks/scale.py FOLDER [SHARE ...]

For each share (0.01, 0.03 and 0.1 by default) of 111,059,956 nodes, 1,615,685,872 edges and 128 features,
FOLDER gets an edge list in Parquet and random features; ``nafs convert`` and ``nafs embed`` run on them as a
user would, with ``--memory-limit 6GB`` for a tenth and less in proportion. Prints a line for each, and draws
scale.png with the exponent of time against size.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

NODES, EDGES, FEATURES = 111_059_956, 1_615_685_872, 128
HOPS, LIMIT = 10, 60_000_000_000  # bytes for the whole, and for each share its share
_ROWS = 1 << 20


def main(folder: Path, shares: list[float]) -> None:
    folder.mkdir(exist_ok=True)
    file = folder / "scale.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    for share in shares:
        if str(share) not in found:
            found[str(share)] = measure(folder, share)
            file.write_text(json.dumps(found, indent=2) + "\n")
        print(share, json.dumps(found[str(share)]), flush=True)
    draw(found, folder / "scale.png")


def measure(folder: Path, share: float) -> dict[str, float]:
    """One graph: made, imported, embedded."""
    n, m = round(NODES * share), round(EDGES * share)
    place = folder / f"share-{share:g}"
    place.mkdir(exist_ok=True)
    write_edges(place / "edges.parquet", n, m)
    write_features(place / "features.npy", n)
    limit = round(LIMIT * share)
    convert = command(
        limit, "convert", place / "edges.parquet", place / "graph", "-f", place / "features.npy", "--force"
    )
    (place / "edges.parquet").unlink()
    (place / "features.npy").unlink()
    embed = command(
        limit,
        *("embed", place / "graph", "-o", place / "embedding.npy", "--force", "--engine", "disk"),
        *("--hops", HOPS, "--r", 0.5),
    )
    size = sum(path.stat().st_size for path in (place / "graph").iterdir())
    return {"nodes": n, "edges": m, "graph_bytes": size, "convert": convert, "embed": embed}


def write_edges(path: Path, n: int, m: int) -> None:
    """Pairs whose ends follow a power law: few nodes are in many, in no order."""
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
    """Seconds of a command within a limit, and the largest anonymous memory that it had."""
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


def draw(found: dict[str, dict[str, dict[str, float]]], path: Path) -> None:
    """Time against size, and the exponent between the smallest and the largest."""
    from matplotlib.figure import Figure

    sizes = sorted(found, key=float)
    nodes = [found[size]["nodes"] for size in sizes]
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axis = figure.subplots()
    for step, colour, marker in (("embed", "#0072b2", "o"), ("convert", "#d55e00", "s")):
        seconds = [found[size][step]["seconds"] for size in sizes]
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
