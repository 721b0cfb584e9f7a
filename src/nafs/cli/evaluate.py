"""`nafs evaluate`: how good an embedding is, on a public data set or on one's own graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nafs._support.budget import check_limit, left_now, parse_memory
from nafs._support.checks import check_choice
from nafs._support.errors import InputError, Parameter
from nafs.cli.console import Run
from nafs.cli.embedding_options import EmbeddingOptions, RunOptions, Scheduler
from nafs.cli.flags import command, flag, reject_changes, shown
from nafs.cli.options import TablePrinting, check_learning
from nafs.cli.reading import Reading, is_dataset, load, read
from nafs.cli.rivals import check_graph, check_request, compare_with_rivals, show_comparison
from nafs.embedding import embed
from nafs.graph import Graph
from nafs.links import SCORES
from nafs.pipeline import Job, search_clusters
from nafs.readers.vectors import read_embedding

if TYPE_CHECKING:
    from nafs.rivals import Comparison
    from nafs.tasks import TaskResult

METHODS = ("consensus", "mixture", "kmeans")
TASKS = ("clustering", "links", "classification")
# Clusters or links, depending on the task; all columns, as in the paper.
FOR_EACH_TASK = EmbeddingOptions(goal="auto", dim="full")
_PANEL = "Tasks"
_COPIES = 2  # of an embedding, that a task makes


@command
def evaluate(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET|EDGES",
            help="A public data set by name, such as cora, or edges as for nafs embed.",
            show_default=False,
        ),
    ],
    reading: Reading,
    printing: TablePrinting,
    task: Annotated[
        str,
        flag("--task", "-t", help=f"{', '.join(TASKS)}, several separated by commas, or all.", panel=_PANEL),
    ] = "all",
    embedding: Annotated[
        str | None,
        flag(
            "--embedding",
            metavar="FILE",
            help="Evaluate this embedding (.parquet, .csv, .npy) instead of computing one; not for links.",
            panel=_PANEL,
        ),
    ] = None,
    seeds: Annotated[
        int, flag("--seeds", metavar="N", help="Number of seeds or splits for each task.", panel=_PANEL)
    ] = 10,
    method: Annotated[
        str,
        flag("--method", help="Clustering by consensus, mixture, or kmeans as in the paper.", panel=_PANEL),
    ] = "consensus",
    score: Annotated[
        str,
        flag(
            "--score",
            help="Score of links: head (a small model fitted on validation edges), inner or cosine.",
            panel=_PANEL,
        ),
    ] = "auto",
    rivals: Annotated[
        str,
        flag(
            "--rivals",
            help="Compare with other systems: none, fast (minutes), all (hours), or names such as GAE,SGC.",
            panel=_PANEL,
        ),
    ] = "none",
    chart: Annotated[
        str | None,
        flag(
            "--chart",
            metavar="FILE",
            help="Write the comparison as a bar chart (.png, .svg, .pdf).",
            panel=_PANEL,
        ),
    ] = None,
    options: EmbeddingOptions = FOR_EACH_TASK,
    client: Scheduler = None,
) -> None:
    """Evaluate an embedding by clustering, link prediction and classification.

    [dim]nafs evaluate cora --task links --hops 9[/dim]
    """
    run = printing.start()
    check_choice("goal", options.goal, ("auto", "clusters", "links"))
    options.settings(goal="clusters")  # checks the options before anything is read
    check_learning(options.memory_limit)
    check_choice("score", score, ("auto", "head", *SCORES))
    check_choice("method", method, METHODS)
    if seeds < 1:
        raise InputError(Parameter("seeds"), f" must be at least 1; got {seeds}")
    if embedding is not None:
        kept = ("n_clusters", "n_threads", "memory_limit")
        reject_changes(options, FOR_EACH_TASK, f"the vectors come from {embedding}", except_for=kept)
    tasks = _tasks(task, embedding)
    check_request(rivals, chart, embedding, tasks)
    split = None
    if is_dataset(dataset):
        data = load(run, dataset, reading)
        graph, split = data.graph, data.split
    else:
        graph = read(run, dataset, reading)
    check_graph(rivals, graph)
    if graph.features is None and embedding is None:
        run.notes.append(
            "the graph has no features: structural ones are computed from the edges that are not hidden"
        )
    if task == "all" and graph.labels is None:
        tasks = [name for name in tasks if name == "links" or (name == "clustering" and options.n_clusters)]
        run.notes.append(f"the graph has no labels: {' and '.join(tasks) or 'nothing'} can be evaluated")
    judge = _Judge(run, graph, options, client, split, seeds, method, score)
    if set(tasks) - {"links"}:
        _check_room(graph, options)
        with run.stage("embed"):
            judge.matrix = (
                judge.embed(graph, "clusters")
                if embedding is None
                else read_embedding(embedding, graph, memory_limit=options.memory_limit)[0]
            )
    outcomes: list[TaskResult] = []
    own: dict[str, TaskResult] = {}  # by the heads of NAFS itself
    compared = list(tasks)
    for name in tasks:
        measure: Callable[[], list[TaskResult]] = getattr(judge, name)
        try:
            with run.stage(name):
                results = measure()
            outcomes += results
            if name != "classification":
                own[name] = results[0]
        except InputError as error:
            if task != "all":
                raise
            run.notes.append(f"{name}: {shown(error)}")
            compared.remove(name)
    comparisons = compare_with_rivals(
        run,
        graph,
        compared,
        judge.embed,
        rivals=rivals,
        seeds=seeds,
        split=split,
        n_clusters=options.n_clusters,
        score=score,
        dataset=dataset.lower().replace("_", "-") if is_dataset(dataset) else "",
        chart=chart,
        own=own,
    )
    _print(run, dataset, outcomes, comparisons)


def _check_room(graph: Graph, options: EmbeddingOptions) -> None:
    """Raise if the copies that K-means and regression make of all columns exceed the limit."""
    limit = parse_memory(options.memory_limit)
    room = left_now(limit)
    if limit is None or room is None or graph.features is None or options.dim != "full":
        return
    n, columns = (
        graph.n_nodes,
        options.settings(goal="clusters").method.method(0).n_columns(graph.features.shape[1]),
    )
    check_limit(
        limit - room + _COPIES * 4 * n * columns,
        limit,
        f"clusters and classes of {n:,} nodes with {columns:,} columns need",
        "raise it, or keep fewer columns: ",
        Parameter("dim", 256),
    )


def _print(run: Run, dataset: str, outcomes: list[TaskResult], comparisons: list[Comparison]) -> None:
    rows = [
        (outcome.task if i == 0 else "", metric, value, outcome.how if i == 0 else "")
        for outcome in outcomes
        for i, (metric, value) in enumerate(outcome.rows())
    ]
    records = [
        {"task": outcome.task, "metric": metric}
        | {"mean": outcome.mean(metric), "deviation": outcome.deviation(metric), "how": outcome.how}
        for outcome in outcomes
        for metric in outcome.values
    ]
    run.answer(
        {
            "target": dataset,
            "results": [outcome.as_dict() for outcome in outcomes],
            "rivals": [comparison.as_dict() for comparison in comparisons],
        },
        rows,
        header=("task", "metric", "mean ± deviation", "how"),
        records=records,
    )
    for comparison in comparisons if not (run.as_json or run.as_csv) else ():
        show_comparison(comparison)


def _tasks(task: str, embedding: str | None) -> list[str]:
    tasks = list(TASKS) if task == "all" else [part.strip() for part in task.split(",")]
    for name in tasks:
        if name not in TASKS:
            raise InputError(Parameter("task"), f" must be all, or some of {', '.join(TASKS)}; got {name!r}")
    if embedding is not None and "links" in tasks:
        if task != "all":
            raise InputError(
                Parameter("embedding"),
                " was computed with all edges, including those that links hides; leave out one of the two",
            )
        tasks.remove("links")
    return tasks


@dataclass
class _Judge:
    """Measures one task at a time."""

    run: Run
    graph: Graph
    options: EmbeddingOptions
    client: str | None
    split: Any
    seeds: int
    method: str
    score: str
    matrix: Any = None

    def embed(self, graph: Graph, goal: str, classes: int | None = None) -> Any:
        """The embedding of a graph for a goal; the number of classes is that of its labels by default."""
        notes, options = self.run.notes, self.options
        goal = goal if options.goal == "auto" else options.goal
        known = None if graph.labels is None else len(graph.labels.classes)
        classes = options.n_clusters or classes or known
        if options.n_hops == "auto" and goal == "clusters" and options.n_clusters is None and classes:
            note = f"--hops auto uses the number of classes ({classes}), but not the labels"
            if note not in notes:
                notes.append(note)
        running = RunOptions(client=self.client)
        embedding = embed(graph, **options.for_library(running, goal=goal, n_clusters=classes))
        for reason in () if embedding.choice is None else embedding.choice.reasons:
            note = f"for {goal}: {reason}"
            if note not in notes:
                notes.append(note)
        return embedding.matrix

    def clustering(self) -> list[TaskResult]:
        """Clusters against the classes and the edges."""
        from nafs.tasks import evaluate_clustering

        n_clusters, source = self.options.n_clusters, self.matrix
        if self.options.n_hops == "auto" and self.method == "consensus":
            # Every seed repeats the whole choice, including the number of hops.
            classes = n_clusters or (None if self.graph.labels is None else len(self.graph.labels.classes))
            settings = self.options.settings(goal="clusters", n_clusters=classes)
            source = search_clusters(Job.of(self.graph, settings))
        return [
            evaluate_clustering(
                source, self.graph, n_clusters=n_clusters, method=self.method, seeds=self.seeds
            )
        ]

    def links(self) -> list[TaskResult]:
        """Hidden edges against pairs without an edge."""
        from nafs.tasks import evaluate_links

        def embed(graph: Graph) -> Any:
            return self.embed(graph, "links")

        return [evaluate_links(self.graph, embed, splits=self.seeds, score=self.score)]

    def classification(self) -> list[TaskResult]:
        """Classes of nodes that a classifier has not seen: on the public split, and on random ones."""
        from nafs.tasks import embeddings_for_classes, evaluate_class_vote, evaluate_classification

        usual = [] if self.split is None else [self.split]
        if self.options.n_hops == "auto":
            settings = self.options.settings(goal="clusters")
            outcomes = [
                evaluate_class_vote(embeddings_for_classes(self.graph, settings), self.graph, [split])
                for split in usual
            ]
            source = embeddings_for_classes(self.graph, settings)
            return [*outcomes, evaluate_class_vote(source, self.graph, count=self.seeds)]
        outcomes = [evaluate_classification(self.matrix, self.graph, [split]) for split in usual]
        return [*outcomes, evaluate_classification(self.matrix, self.graph, count=self.seeds)]
