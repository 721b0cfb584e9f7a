"""Compare the method with rivals on one graph: a table with bars in the terminal, and a chart as a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.atomic import whole_file
from nafs._support.errors import InputError, Parameter
from nafs.cli.console import Run, print_table, results
from nafs.graph import Graph

if TYPE_CHECKING:
    from nafs.rivals import Comparison, Problem, Rival
    from nafs.tasks import TaskResult

OURS = "NAFS"
TIERS = ("none", "fast", "all")
WIDTH = 40  # characters of the longest bar
LIMIT = 90.0  # seconds of "fast" for each task: a comparison should take at most a few minutes


def check_request(rivals: str, chart: str | None, embedding: str | None, tasks: list[str]) -> None:
    """Raise if options do not go together."""
    if rivals not in TIERS:
        from nafs.rivals import RIVALS

        for name in _names(rivals):
            if name not in RIVALS:
                known = ", ".join((*TIERS, *RIVALS))
                raise InputError(Parameter("rivals"), f" must be one of {known}; got {name!r}")
            # A single task must be one of the rival; of several tasks, it is evaluated on those that it has.
            RIVALS[name].check(tasks[0] if len(tasks) == 1 else RIVALS[name].tasks[0])
    if chart is not None and rivals == "none":
        raise InputError(Parameter("chart"), " draws the comparison with rivals; add --rivals fast or all")
    if rivals != "none" and embedding is not None:
        raise InputError(Parameter("rivals"), " embeds the graph itself; leave --embedding out")


def _names(rivals: str) -> list[str]:
    return [name.strip() for name in rivals.split(",")]


def check_graph(rivals: str, graph: Graph) -> None:
    """Raise, before anything is measured, if rivals are not defined for a graph."""
    if rivals != "none" and graph.adjacency.directed:
        raise InputError(
            Parameter("rivals"), " compares on undirected graphs only; leave out ", Parameter("directed")
        )


def compare_with_rivals(
    run: Run,
    graph: Graph,
    tasks: list[str],
    embed: Any,
    *,
    rivals: str,
    seeds: int,
    split: Any = None,
    n_clusters: int | None = None,
    score: str = "auto",
    dataset: str = "",
    chart: str | None = None,
    own: Mapping[str, TaskResult] | None = None,
) -> list[Comparison]:
    """Evaluate NAFS and some rivals in each task; nothing for "none".

    ``embed`` takes a graph, a goal and a number of clusters; ``rivals`` is a tier or names of rivals;
    ``own`` has results of NAFS with its own heads, which get separate rows.
    """
    if rivals == "none":
        return []
    from nafs.rivals import Rival, compare
    from nafs.rivals.contract import TASKS

    def fit(problem: Problem, seed: int, progress: object) -> NDArray[Any]:
        goal = "links" if problem.task == "links" else "clusters"
        return np.asarray(embed(problem.graph, goal, problem.n_clusters or None))

    ours = Rival(OURS, TASKS, fit, "this method", cost=0, seeded=False)
    limit = LIMIT if rivals == "fast" else math.inf
    if score == "head":
        score = "auto"
        run.notes.append("rivals are compared by inner products or cosines; the head is for NAFS alone")
    comparisons = []
    for task in tasks:
        methods = [ours, *_methods(rivals, task, graph.n_nodes)]
        methods.sort(key=lambda rival: rival.seconds(graph.n_nodes))
        expected = {rival.name: _show(rival.seconds(graph.n_nodes)) for rival in methods}
        bound = "" if limit == math.inf else f" (at most {limit:.0f} in all; --rivals all has no limit)"
        run.say(f"{task}: seconds that one fit takes, roughly{bound}: {_listed(expected)}")
        with run.stage(f"rivals, {task}", total=len(methods) * seeds) as advance:
            comparison = compare(
                graph,
                task,
                methods,
                seeds=seeds,
                split=split,
                n_clusters=n_clusters,
                score=score,
                dataset=dataset,
                limit=limit,
                progress=_teller(advance, task, expected),
            )
        if own is not None and task in own:
            head = own[task].how.partition(",")[0]
            fit_seconds = (run.seconds[task] + run.seconds.get("embed", 0.0)) / seeds
            comparison.values[f"{OURS}, {head}"] = {**own[task].values, "seconds": [fit_seconds] * seeds}
        comparisons.append(comparison)
        run.notes += [note for note in _why(comparison) if note not in run.notes]
    if chart is not None:
        write_charts(comparisons, Path(chart))
    return comparisons


def _methods(rivals: str, task: str, n_nodes: int) -> list[Rival]:
    """The rivals of a tier, or with the given names, that have a task."""
    from nafs.rivals import RIVALS, rivals_for

    if rivals in TIERS:
        return list(rivals_for(task, rivals, n_nodes).values())
    return [RIVALS[name] for name in _names(rivals) if task in RIVALS[name].tasks]


def _teller(advance: Any, task: str, expected: Mapping[str, str]) -> Callable[[str, int, int], None]:
    """A function that moves the progress bar to a fit, and shows whose it is and how long it takes."""
    at = 0

    def report(name: str, done: int, total: int) -> None:
        nonlocal at
        advance(done - at, f"{task}: {name}, {expected[name]} s")
        at = done

    return report


def _why(comparison: Comparison) -> list[str]:
    """Why methods are not in the table: a line for each reason."""
    names: dict[str, list[str]] = {}
    for name, reason in comparison.skipped.items():
        names.setdefault(reason.removeprefix(name).lstrip(": "), []).append(name)
    return [f"{comparison.task}: {', '.join(names[reason])}: {reason}" for reason in names]


def _show(seconds: float) -> str:
    return "under 2" if seconds < 2 else f"{seconds:.0f}"


def _listed(expected: Mapping[str, str]) -> str:
    """Methods grouped by the seconds that they take, the fastest first."""
    return "; ".join(
        f"{seconds}: {', '.join(name for name in expected if expected[name] == seconds)}"
        for seconds in dict.fromkeys(expected.values())
    )


def show_comparison(comparison: Comparison) -> None:
    """Print a table, the best method first, and a bar for the first metric of each."""
    if not comparison.values:
        return
    first = comparison.metrics[0]
    means = {name: float(np.mean(comparison.values[name][first])) for name in comparison.ordered()}
    longest = max(*means.values(), 1e-9)
    title = f"{comparison.task}: NAFS and rivals on the same splits and seeds"
    results.print(title, style="bold", markup=False, highlight=False, soft_wrap=True)
    header = ("method", *comparison.metrics, "seeds", "time", "memory")
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
        strong = next((method for method in bars if method.startswith(OURS)), "")
        figure = plot_bars(bars, title=f"{comparison.task}: NAFS and rivals", label=first, strong=strong)
        with whole_file(name, force=force) as part:
            figure.savefig(part, format=(name.suffix or ".png").removeprefix("."), dpi=120)
        files.append(name)
    return files
