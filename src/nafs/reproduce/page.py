"""docs/reproduction.md: tables are generated from measured cells, prose is written by hand.

A table stands between ``<!-- NAME -->`` and ``<!-- /NAME -->``. Tables without any measured cell stay as they
are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nafs.reproduce import comparison, efficiency, published, scalability, sparsity
from nafs.reproduce.comparison import Task, show
from nafs.reproduce.marked import fill, markdown
from nafs.reproduce.store import Store, Values, megabytes, seconds
from nafs.rivals import RIVALS, Rival

SEEDS = 10
Earlier = Mapping[str, Mapping[str, Mapping[str, str]]]


def update_page(text: str, store: Store, earlier: Earlier) -> str:
    """The page with its tables generated again.

    Parameters
    ----------
    text : str
        The page as it is.
    store : Store
        The measured cells.
    earlier : mapping
        Results of a run from before cells were kept, by table, method and column. They are shown, with a
        dagger, where fewer than ten seeds are measured.

    Returns
    -------
    str
    """
    tables = {task.name: _comparison(task, store, earlier.get(task.name, {})) for task in TASKS}
    for name, numbers in SPARSE.items():
        tables[name] = _sparsity(name, numbers, store, earlier.get(name, {}))
    for task in (comparison.CLUSTERING, comparison.LINKS):
        tables[f"ndls-{task.name}"] = _against_ndls(task, store, earlier.get(task.name, {}))
    tables["efficiency"] = _measured(efficiency.HEADER, efficiency.rows(store))
    tables["scalability"] = _samples(store, earlier.get("scalability", {}))
    tables["random-graphs"] = _measured(scalability.RANDOM_HEADER, scalability.random_rows(store))
    tables["missing"] = [*_missing(store, earlier), *_missing_times(store)]
    return fill(text, tables)


TASKS = (comparison.LINKS, comparison.CLUSTERING, comparison.CLASSIFICATION)
SPARSE = {"edge-sparsity": published.WITHOUT_EDGES, "feature-sparsity": published.WITHOUT_FEATURES}


def summary(values: Values | None, metrics: Sequence[str], seeds: int = SEEDS) -> str:
    """Means and deviations of several metrics, and the number of seeds where some are missing.

    Examples
    --------
    >>> from nafs.reproduce.page import summary
    >>> summary({"AUC": [0.9, 0.92], "AP": [0.8, 0.8]}, ("AUC", "AP"))
    '91.0 / 80.0 ± 1.0 / 0.0 (2)'
    """
    if values is None:
        return ""
    if "needs" in values:
        return show(values, "")
    means = " / ".join(f"{100 * np.mean(values[metric]):.1f}" for metric in metrics)
    count = len(values[metrics[0]])
    spread = " / ".join(f"{100 * np.std(values[metric]):.1f}" for metric in metrics)
    return (f"{means} ± {spread}" if count > 1 else means) + (f" ({count})" if count < seeds else "")


def _fuller(values: Values | None, metrics: Sequence[str], before: str | None, seeds: range) -> str:
    """The result of the earlier run where fewer seeds are measured by now."""
    count = 0 if values is None else len(values.get(metrics[0], seeds))
    return (
        f"{before} †" if before is not None and count < len(seeds) else summary(values, metrics, len(seeds))
    )


def _comparison(task: Task, store: Store, earlier: Mapping[str, Mapping[str, str]]) -> list[str]:
    """A row for each method: published and measured values for each data set, and the cost on Cora."""
    rows = [
        _row(task, rival.name, task.others.get(rival.name), rival, store, earlier)
        for rival in RIVALS.values()
        if task.name in rival.tasks or rival.name in task.others
    ]
    for variant in published.VARIANTS:
        rows += _variant(task, variant, store, earlier)
    return _measured(_header(task), rows)


def _against_ndls(task: Task, store: Store, earlier: Mapping[str, Mapping[str, str]]) -> list[str]:
    """NDLS beside the variant that the paper compares it with."""
    first = _row(task, "NDLS", published.NDLS[task.name], RIVALS["NDLS"], store, earlier)
    return _measured(_header(task), [first, *_variant(task, "concat", store, earlier)])


def _header(task: Task) -> list[str]:
    metrics = "/".join(task.metrics)
    columns = [f"{title} {metrics}" for name in task.datasets for title in (f"{name} published", "here")]
    return ["method", *columns, "time", "CPU", "memory"]


def _variant(
    task: Task, variant: str, store: Store, earlier: Mapping[str, Mapping[str, str]]
) -> list[list[str]]:
    """NAFS with the paper's hops, and with the same hops everywhere."""
    numbers = task.numbers[variant]
    return [
        _row(task, f"NAFS-{variant}, paper's hops", numbers, variant, store, earlier),
        _row(task, f"NAFS-{variant}, 20 hops", None, task.plain_way(variant), store, earlier),
    ]


def _row(
    task: Task,
    title: str,
    numbers: dict[str, tuple[float, ...]] | None,
    method: Rival | str,
    store: Store,
    earlier: Mapping[str, Mapping[str, str]],
) -> list[str]:
    row = [title]
    cost = ["", "", ""]
    for name in task.datasets:
        rival = task.published_way(name, method) if isinstance(method, str) else method
        values = store.together(task.keys(name, rival, SEEDS))
        row.append("" if numbers is None else " / ".join(f"{number:.1f}" for number in numbers[name]))
        seeds = task.seeds(name, rival, SEEDS)
        row.append(_fuller(values, task.metrics, earlier.get(title, {}).get(name), seeds))
        if name == "cora" and values is not None and "cpu" in values:
            cost = _cost(values)
    return [*row, *cost]


def _cost(values: Values) -> list[str]:
    """Wall time, CPU seconds and memory of one fit.

    Other work on the machine makes the wall time longer, so the shortest one is shown, or none if even that
    is far above the CPU seconds.
    """
    wall, worked = min(zip(values["seconds"], values["cpu"], strict=True))
    time = seconds([wall]) if wall < 1.5 * worked + 0.01 else ""
    return [time, seconds(values["cpu"]), megabytes(values["bytes"]) if "bytes" in values else ""]


def _sparsity(
    name: str,
    numbers: Mapping[str, tuple[tuple[float, ...], ...]],
    store: Store,
    earlier: Mapping[str, Mapping[str, str]],
) -> list[str]:
    methods: list[tuple[str, Rival]] = [(m, RIVALS[m]) for m in (*sparsity.FAST, *sparsity.SLOW)]
    methods += zip(("NAFS-mean, paper's hops", "NAFS-mean, 20 hops"), sparsity.ours(), strict=True)
    printed = {"GAE": numbers["GAE"], "NAFS-mean, paper's hops": numbers["NAFS-mean"]}
    header, rows = ["method"], []
    for rate in published.REMOVED:
        header += [f"{rate:.1f} published AUC/AP", "here"]
    for title, rival in methods:
        row = [title]
        for i, rate in enumerate(published.REMOVED):
            values = store.together(sparsity.keys(name, rate, rival, SEEDS))
            row.append(" / ".join(f"{n:.1f}" for n in printed[title][i]) if title in printed else "")
            before = earlier.get(title, {}).get(f"{rate:.1f}")
            row.append(_fuller(values, sparsity.METRICS, before, range(SEEDS)))
        rows.append(row)
    return _measured(header, rows)


def _samples(store: Store, earlier: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Scalability on samples; times of the earlier run stand where none are measured."""
    header = scalability.sample_header()
    rows = {row[0]: row for row in scalability.sample_rows(store)}
    edges = rows.pop(scalability.EDGES_ROW)
    for name, times in earlier.items():
        row = edges if name == edges[0] else rows.setdefault(name, [name, *[""] * (len(header) - 1)])
        row[1:] = [value or f"{times[column]} †" for column, value in zip(header[1:], row[1:], strict=True)]
    return _measured(header, [*rows.values(), edges])


def _missing(store: Store, earlier: Earlier) -> list[str]:
    """Which cells of the comparisons are not measured, or with fewer seeds, or only in the earlier run."""
    lines = []
    for task in TASKS:
        for name in task.datasets:
            before = [method for method, cells in earlier.get(task.name, {}).items() if name in cells]
            counts = {
                rival.name: _count(store, task.keys(name, rival, SEEDS))
                for rival in RIVALS.values()
                if task.name in rival.tasks
            }
            lines.append(f"- {task.name}, {name}: {_state(counts, before)}.")
    for table in SPARSE:
        for rate in published.REMOVED:
            counts = {
                name: _count(store, sparsity.keys(table, rate, RIVALS[name], SEEDS)) for name in sparsity.SLOW
            }
            lines.append(f"- {table}, {rate:g} removed: {_state(counts, ())}.")
    return lines


def _count(store: Store, keys: Sequence[str]) -> tuple[int, int]:
    """How many of the cells are measured, and how many there are."""
    return sum(key in store for key in keys), len(keys)


def _state(counts: Mapping[str, tuple[int, int]], before: Sequence[str]) -> str:
    """A sentence on what is missing, from the numbers of measured and wanted cells of each method."""
    none = [name for name, (done, _) in counts.items() if not done and name not in before]
    few = [f"{name} ({done})" for name, (done, wanted) in counts.items() if 0 < done < wanted]
    old = [name for name, (done, _) in counts.items() if not done and name in before]
    parts = [f"not measured: {', '.join(none)}"] if none else []
    parts += [f"fewer than {SEEDS} seeds: {', '.join(few)}"] if few else []
    parts += [f"earlier run only: {', '.join(old)}"] if old else []
    return "; ".join(parts) or "complete"


def _missing_times(store: Store) -> list[str]:
    """Which times are not measured."""
    samples, sizes = published.SAMPLES, scalability.RANDOM_NODES
    tables = {
        "efficiency": {
            method: {name: efficiency.key(name, method) for name in efficiency.places(method)}
            for method in efficiency.METHODS
        },
        "scalability": {
            method: {f"{count:,}": scalability.sample_key(method, count) for count in samples}
            for method in scalability.METHODS
        },
        "random-graphs": {
            method: {f"{count:,}": scalability.random_key(method, count) for count in sizes}
            for method in scalability.METHODS
        },
    }
    lines = []
    for table, methods in tables.items():
        parts = []
        for method, keys in methods.items():
            absent = [place for place, key in keys.items() if key not in store]
            if absent:
                parts.append(method if len(absent) == len(keys) else f"{method} ({'; '.join(absent)})")
        lines.append(f"- {table}: " + (f"not measured: {', '.join(parts)}." if parts else "complete."))
    return lines


def _measured(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of the rows that are not empty; nothing if there are none."""
    kept = [row for row in rows if any(row[1:])]
    return markdown(header, kept) if kept else []
