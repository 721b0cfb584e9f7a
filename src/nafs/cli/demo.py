"""`nafs demo`: the bundled digits from end to end, without a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nafs.cli.console import Run, print_table, results
from nafs.cli.demo_tables import demonstrate_tables
from nafs.cli.flags import command, flag
from nafs.cli.options import OUTPUT, Force, Printing

if TYPE_CHECKING:
    from nafs.embedding import Embedding
    from nafs.graph import Graph

_SEEDS = 5
_CONTENTS = ["embedding.parquet", "graph", "digits.png", "report.html"]


@command
def demo(
    printing: Printing,
    output: Annotated[
        str,
        flag(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Folder for the embedding and a page.",
            panel=OUTPUT,
        ),
    ] = "nafs-demo",
    tables: Annotated[
        bool,
        flag(
            "--tables",
            help="Go through clusters, classes, links and vectors of two small tables instead of the digits.",
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Embed 1,797 bundled images of digits and compare clusters before and after."""
    if tables:
        demonstrate_tables(printing.start(), Path(output), force=force)
        return
    from nafs._support.atomic import whole_folder
    from nafs.datasets import load_dataset
    from nafs.embedding import embed
    from nafs.pictures.demo import draw
    from nafs.tasks import evaluate_clustering

    run = printing.start()
    folder = Path(output)
    with whole_folder(folder, force=force, contents=_CONTENTS) as part:
        with run.stage("graph"):
            graph = load_dataset("digits").graph
        with run.stage("smooth"):
            embedding = embed(graph)
        assert graph.features is not None
        with run.stage("cluster"):
            matrices = {"raw pixels": graph.features.toarray(), "embedding": embedding.matrix}
            scores = {
                name: evaluate_clustering(matrix, graph, method="kmeans", seeds=_SEEDS)
                for name, matrix in matrices.items()
            }
        with run.stage("draw"):
            has_picture = draw(part / "digits.png", graph, embedding)
        has_page = _report(part / "report.html", graph, embedding, run)
        with run.stage("write"):
            embedding.write(part / "embedding.parquet", force=True)
            graph.save(part / "graph")
    if not (has_picture and has_page):
        run.notes.append(
            "pictures and the page need matplotlib and openTSNE: install them (pip install 'nafs[plot]')"
        )
    if not (run.quiet or run.as_json):
        results.print(
            f"K-means on {graph.n_nodes:,} digits, {_SEEDS} seeds; the labels only measure the result",
            style="bold",
            soft_wrap=True,
        )
        rows = [(name, *(dict(score.rows())[m] for m in ("NMI", "ARI"))) for name, score in scores.items()]
        print_table(rows, header=("", "NMI", "ARI"))
    files = [str(folder / name) for name in _CONTENTS if (folder / name).exists()]
    facts = {"output": files, "results": {name: score.as_dict() for name, score in scores.items()}}
    run.finish("demo", [("result", ", ".join(files))], facts)


def _report(path: Path, graph: Graph, embedding: Embedding, run: Run) -> bool:
    """Write the page of the demo; ``False`` if openTSNE is missing."""
    from nafs.report import collect, write_page
    from nafs.smoothing.threads import check_threads

    try:
        title, n_threads = "nafs: handwritten digits", check_threads(None)
        data = collect(embedding, graph, title=title, n_threads=n_threads, stage=run.stage)
    except ImportError:
        return False
    write_page(data, path)
    return True
