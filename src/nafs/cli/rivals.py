"""The rivals beside the method on one graph: a table with bars in the terminal, and a chart as a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.atomic import whole_file
from nafs._support.checks import check_choice
from nafs._support.errors import InputError, Parameter
from nafs.cli.console import Run, print_table, results
from nafs.graph import Graph

if TYPE_CHECKING:
    from nafs.rivals import Comparison, Problem

OURS = "NAFS"
WIDTH = 40  # characters of the longest bar


def check_request(tier: str, chart: str | None, embedding: str | None) -> None:
    """Raise one clear line for options that do not go together."""
    check_choice("rivals", tier, ("none", "fast", "all"))
    if chart is not None and tier == "none":
        raise InputError(Parameter("chart"), " draws the comparison with rivals; add --rivals fast or all")
    if tier != "none" and embedding is not None:
        raise InputError(Parameter("rivals"), " embeds the graph itself; leave --embedding out")


def check_graph(tier: str, graph: Graph) -> None:
    """Raise one clear line for a graph that rivals are not defined for, before anything is measured."""
    if tier != "none" and graph.adjacency.directed:
        raise InputError(
            Parameter("rivals"), " compares on undirected graphs only; leave out ", Parameter("directed")
        )


def compare_with_rivals(
    run: Run,
    graph: Graph,
    tasks: list[str],
    embed: Any,
    *,
    tier: str,
    seeds: int,
    split: Any = None,
    n_clusters: int | None = None,
    score: str = "auto",
    dataset: str = "",
    chart: str | None = None,
) -> list[Comparison]:
    """Judge NAFS and the rivals of a tier by each task; nothing for the tier "none".

    ``embed`` takes a graph, a goal and a number of clusters.
    """
    if tier == "none":
        return []
    from nafs.rivals import Rival, compare, rivals_for
    from nafs.rivals.contract import TASKS

    def fit(problem: Problem, seed: int, progress: object) -> NDArray[Any]:
        goal = "links" if problem.task == "links" else "clusters"
        return np.asarray(embed(problem.graph, goal, problem.n_clusters or None))

    ours = Rival(OURS, TASKS, fit, "this method", cost=1, seeded=False)
    comparisons = []
    for task in tasks:
        methods = [ours, *rivals_for(task, tier, graph.n_nodes).values()]
        with run.stage(f"rivals, {task}", total=len(methods) * seeds) as advance:

            def report(name: str, done: int, total: int, advance: Any = advance) -> None:
                advance(1, name)

            comparison = compare(
                graph,
                task,
                methods,
                seeds=seeds,
                split=split,
                n_clusters=n_clusters,
                score=score,
                dataset=dataset,
                progress=report,
            )
        comparisons.append(comparison)
        run.notes += [reason for reason in comparison.skipped.values() if reason not in run.notes]
    if chart is not None:
        write_charts(comparisons, Path(chart))
    return comparisons


def show_comparison(comparison: Comparison) -> None:
    """Print a table, the best method first, and a bar for the first metric of each."""
    if not comparison.values:
        return
    first = comparison.metrics[0]
    means = {name: float(np.mean(comparison.values[name][first])) for name in comparison.ordered()}
    longest = max(*means.values(), 1e-9)
    title = f"{comparison.task}: NAFS and rivals, the same splits, seeds and heads"
    results.print(title, style="bold", markup=False, highlight=False, soft_wrap=True)
    header = ("method", *comparison.metrics, "time", "memory")
    print_table([[name, *comparison.row(name)] for name in means], header)
    bars = {name: "█" * max(0, round(WIDTH * mean / longest)) for name, mean in means.items()}
    print_table([[name, bars[name], f"{mean:.3f}"] for name, mean in means.items()], ("method", first, ""))


def write_charts(comparisons: list[Comparison], path: Path, *, force: bool = True) -> list[Path]:
    """Write a bar chart of each task; with several tasks the task's name is added to that of the file."""
    from nafs.pictures.plots import plot_bars

    files = []
    for comparison in comparisons:
        if not comparison.values:
            continue
        name = path if len(comparisons) == 1 else path.with_stem(f"{path.stem}-{comparison.task}")
        first = comparison.metrics[0]
        bars = {method: comparison.values[method][first] for method in comparison.ordered()}
        figure = plot_bars(bars, title=f"{comparison.task}: NAFS and rivals", label=first, strong=OURS)
        with whole_file(name, force=force) as part:
            figure.savefig(part, format=(name.suffix or ".png").removeprefix("."), dpi=120)
        files.append(name)
    return files
