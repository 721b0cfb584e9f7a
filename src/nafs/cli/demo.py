"""`nafs demo`: the bundled digits from end to end, without network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nafs.cli import options as o
from nafs.cli.console import Run, results, table_of

if TYPE_CHECKING:
    from nafs.embedding import Embedding
    from nafs.graph import Graph

_SEEDS = 5
_CONTENTS = ["embedding.parquet", "graph", "digits.png", "report.html"]


def demo(
    output: Annotated[
        str, typer.Option("--output", "-o", help="Folder for the embedding and the picture.")
    ] = "nafs-demo",
    force: o.ForceOption = False,
    quiet: o.QuietOption = False,
) -> None:
    """Embed 1,797 bundled images of digits and compare clusters before and after."""
    from nafs._support.atomic import whole_folder
    from nafs.datasets import load_dataset
    from nafs.embedding import embed
    from nafs.pictures.demo import draw
    from nafs.tasks import evaluate_clustering

    run = Run(quiet)
    folder = Path(output)
    with whole_folder(folder, force=force, contents=_CONTENTS) as part:
        with run.stage("graph"):
            graph = load_dataset("digits").graph
        with run.stage("smooth"):
            embedding = embed(graph)
        assert graph.features is not None
        with run.stage("cluster"):
            matrices = {"raw pixels": graph.features.toarray(), "embedding": embedding.matrix}
            rows = [
                (
                    name,
                    *(
                        dict(evaluate_clustering(matrix, graph, method="kmeans", seeds=_SEEDS).rows())[m]
                        for m in ("NMI", "ARI")
                    ),
                )
                for name, matrix in matrices.items()
            ]
        with run.stage("draw"):
            drawn = draw(part / "digits.png", graph, embedding)
        with run.stage("report") as advance:
            told = _report(part / "report.html", graph, embedding, lambda name: advance(0, f"report: {name}"))
        with run.stage("write"):
            embedding.write(part / "embedding.parquet", force=True)
            graph.save(part / "graph")
    if not drawn or not told:
        run.notes.append(
            "no picture or no page: matplotlib or openTSNE is missing (pip install 'nafs[plot]')"
        )
    if not quiet:
        results.print(f"K-means on {graph.n_nodes:,} digits, {_SEEDS} seeds; labels only judge", style="bold")
        results.print(table_of(rows, header=("", "NMI", "ARI")))
    files = [name for name in _CONTENTS if (folder / name).exists()]
    run.finish("demo", [("result", ", ".join(str(folder / name) for name in files))], {})


def _report(path: Path, graph: Graph, embedding: Embedding, told: Callable[[str], None]) -> bool:
    """The page of the demo; ``False`` where openTSNE is missing."""
    from nafs.report import collect, write_page
    from nafs.smoothing.threads import check_threads

    try:
        data = collect(
            embedding, graph, title="nafs: handwritten digits", n_threads=check_threads(None), told=told
        )
    except ImportError:
        return False
    write_page(data, path)
    return True
