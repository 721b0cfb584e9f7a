"""docs/reproduction.md: its tables are made from measured cells, its prose is written by hand.

A table stands between ``<!-- NAME -->`` and ``<!-- /NAME -->``. Tables of which no cell is measured stay as
they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nafs.reproduce import comparison, published, sparsity
from nafs.reproduce.comparison import Task, show
from nafs.reproduce.marked import fill, markdown
from nafs.reproduce.store import Store, Values
from nafs.rivals import RIVALS, Rival

SEEDS = 10
Earlier = Mapping[str, Mapping[str, Mapping[str, str]]]


def update_page(text: str, store: Store, earlier: Earlier) -> str:
    """The page with its tables made anew.

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
    tables["missing"] = _missing(store, earlier)
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
    """A row for each method: for each data set what is published and measured, and the cost on Cora."""
    header = ["method"]
    for name in task.datasets:
        header += [f"{name} published", "here"]
    rows = [
        _row(task, rival.name, task.others.get(rival.name), rival, store, earlier)
        for rival in RIVALS.values()
        if task.name in rival.tasks or rival.name in task.others
    ]
    for variant in published.VARIANTS:
        numbers = task.numbers[variant]
        rows.append(_row(task, f"NAFS-{variant}, paper's hops", numbers, variant, store, earlier))
        rows.append(_row(task, f"NAFS-{variant}, 20 hops", None, task.plain_way(variant), store, earlier))
    rows = [row for row in rows if any(row[1:])]
    metrics = "/".join(task.metrics)
    return markdown([header[0], *(f"{title} {metrics}" for title in header[1:]), "CPU", "memory"], rows)


def _row(
    task: Task,
    title: str,
    numbers: dict[str, tuple[float, ...]] | None,
    method: Rival | str,
    store: Store,
    earlier: Mapping[str, Mapping[str, str]],
) -> list[str]:
    row = [title]
    cost = ["", ""]
    for name in task.datasets:
        rival = task.published_way(name, method) if isinstance(method, str) else method
        values = store.together(task.keys(name, rival, SEEDS))
        row.append("" if numbers is None else " / ".join(f"{number:.1f}" for number in numbers[name]))
        row.append(_fuller(values, task.metrics, earlier.get(title, {}).get(name), task.seeds(rival, SEEDS)))
        if name == "cora" and values is not None and "cpu" in values:
            memory = f"{max(values['bytes']) / 1e6:.0f} MB" if "bytes" in values else ""
            cost = [f"{np.median(values['cpu']):.2g} s", memory]
    return [*row, *cost]


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
    rows = [row for row in rows if any(row[1:])]
    return markdown(header, rows)


def _missing(store: Store, earlier: Earlier) -> list[str]:
    """Which cells of the three comparisons are not measured, or with fewer seeds."""
    lines = []
    for task in TASKS:
        for name in task.datasets:
            none, few = [], []
            for rival in RIVALS.values():
                if task.name not in rival.tasks or name in earlier.get(task.name, {}).get(rival.name, {}):
                    continue
                keys = task.keys(name, rival, SEEDS)
                count = sum(key in store for key in keys)
                if not count:
                    none.append(rival.name)
                elif count < len(keys):
                    few.append(f"{rival.name} ({count})")
            parts = [f"not measured: {', '.join(none)}"] if none else []
            parts += [f"fewer than {SEEDS} seeds: {', '.join(few)}"] if few else []
            lines.append(f"- {task.name}, {name}: {'; '.join(parts) or 'complete'}.")
    return lines
