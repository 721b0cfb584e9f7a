"""docs/quality.md: its tables are generated from measured cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nafs.reproduce.marked import fill, markdown
from nafs.reproduce.quality import CLASSIFIED, HALVES, NAMES, TASKS, Step, Task, number_cell, number_key
from nafs.reproduce.quality_noise import cells as noise_cells
from nafs.reproduce.quality_noise import rows_of
from nafs.reproduce.store import Store, Values

SEEDS = 10
TOLERANCES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15)
# Goals, set before the measurements.
AIMS: dict[str, dict[str, tuple[float, ...]]] = {
    "clustering": {
        "cora": (76, 61, 55),
        "citeseer": (71, 46, 47),
        "pubmed": (71, 34, 34),
        "wiki": (56, 55, 37),
        "amazon-photo": (79, 72, 63),
        "acm": (93, 75, 81),
        "coauthor-cs": (78, 79, 70),
    },
    "links": {
        "cora": (96.2, 96.4),
        "citeseer": (98.0, 98.1),
        "pubmed": (98.2, 98.0),
        "wiki": (96, 96),
        "amazon-photo": (98.7, 98.7),
        "acm": (99.2, 99.3),
        "coauthor-cs": (98, 98),
    },
    "classification": {"cora": (84.4,), "citeseer": (73.5,), "pubmed": (80.5,)},
}


def update_page(text: str, store: Store) -> str:
    """The page with its tables generated from the measured cells."""
    tables = {"numbers": _numbers(store), "noise": _noise(store), "halves": _halves(store)}
    tables["tolerances"] = _tolerances(store)
    tables["outdated"] = _outdated(store)
    for task in TASKS:
        tables[task.name] = _auto(store, task)
        tables[f"{task.name}-missed"] = _missed(store, task)
        tables[f"{task.name}-steps"] = _steps(store, task, task.metrics[:3])
    tables["links-hard-steps"] = _steps(store, TASKS[1], ("AUC hard",))
    return fill(text, tables)


def _joined(values: Values, metrics: Sequence[str], show: str = "mean") -> str:
    numbers = (np.mean(values[name]) if show == "mean" else np.std(values[name]) for name in metrics)
    return " / ".join(f"{100 * number:.1f}" for number in numbers)


def _auto(store: Store, task: Task) -> list[str]:
    """A row for each data set: the goal and the result of `auto`."""
    (step,) = (step for step in task.steps if step.is_auto)
    first, others = task.metrics[: 3 if task.name == "clustering" else 2], task.metrics[2:]
    rows = []
    for name in task.datasets:
        values = task.values(store, name, step, SEEDS)
        if values is None:
            continue
        aim = AIMS[task.name].get(name)
        row = [name, "" if aim is None else " / ".join(f"{number:g}" for number in aim)]
        row += [_joined(values, first), _joined(values, first, "deviation")]
        if task.name == "links":
            row += [_joined(values, [metric]) for metric in others]
        rows.append([*row, str(len(values[first[0]]))])
    header = ["data set", f"aim: {' / '.join(first)}", "`auto`", "deviation"]
    header += others if task.name == "links" else []
    return markdown([*header, "splits" if task.name != "clustering" else "seeds"], rows)


def _missed(store: Store, task: Task) -> list[str]:
    """A sentence that names the aims that are missed, rounded like the aims and to a hundredth."""
    (step,) = (step for step in task.steps if step.is_auto)
    missed: dict[str, list[str]] = {"Rounded like the aims": [], "to a hundredth": []}
    count = 0
    for name, aims in AIMS[task.name].items():
        values = task.values(store, name, step, SEEDS)
        for metric, aim in zip(task.metrics, aims, strict=False) if values else ():
            assert values is not None
            mean, count = 100 * float(np.mean(values[metric])), count + 1
            digits = 0 if aim == round(aim) else 1
            for title, places in (("Rounded like the aims", digits), ("to a hundredth", 2)):
                if round(mean, places) < aim:
                    missed[title].append(f"{name} {metric} {mean:.2f} ({aim:g})")
    if not count:
        return []
    shown = [
        f"{title}, {len(names)} of {count} are missed: {', '.join(names)}"
        if names
        else f"{title}, all {count} are reached"
        for title, names in missed.items()
    ]
    return [f"{shown[0]}; {shown[1]}."]


def _score(values: Values | None, metrics: Sequence[str]) -> float | None:
    """The mean of several metrics, in percent."""
    return None if values is None else 100 * float(np.mean([np.mean(values[name]) for name in metrics]))


def _scores(store: Store, task: Task, step: Step, metrics: Sequence[str]) -> dict[str, float]:
    scores = {name: _score(task.values(store, name, step, SEEDS), metrics) for name in task.datasets}
    return {name: score for name, score in scores.items() if score is not None}


def _mean(scores: dict[str, float], names: Sequence[str]) -> float | None:
    """The mean over some data sets; empty while one of them is missing."""
    return float(np.mean([scores[name] for name in names])) if set(names) <= set(scores) else None


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _steps(store: Store, task: Task, metrics: Sequence[str]) -> list[str]:
    """A row for each line of the ablation; the mean of the metrics for each data set, half and all."""
    names = CLASSIFIED if task.name == "classification" else NAMES
    rows = []
    for step in task.steps:
        scores = _scores(store, task, step, metrics)
        if scores:
            means = [_mean(scores, [name for name in half if name in names]) for half in HALVES.values()]
            means.append(_mean(scores, names))
            rows.append([step.title, *(_shown(scores.get(name)) for name in names), *map(_shown, means)])
    return markdown(["setting", *names, *HALVES, "all"], rows)


def _halves(store: Store) -> list[str]:
    """The best variant of the consensus on one half, and its result on the other half, both ways."""
    task = TASKS[0]
    variants = {
        step.title: _scores(store, task, step, task.metrics)
        for step in task.steps
        if step.is_auto or step.without
    }
    complete = {title: scores for title, scores in variants.items() if _mean(scores, NAMES) is not None}
    rows = []
    for half, names in HALVES.items():
        if complete:
            best = max(complete, key=lambda title: _mean(complete[title], names) or 0.0)
            means = [_shown(_mean(complete[best], other)) for other in HALVES.values()]
            rows.append([f"best by {half}", best, *means])
    for title, scores in complete.items():
        if title.endswith(": auto"):
            rows.append(["`auto`", title, *(_shown(_mean(scores, names)) for names in HALVES.values())])
    return markdown(["developed on", "variant", *(f"mean of {half}" for half in HALVES)], rows)


def _numbers(store: Store) -> list[str]:
    rows = []
    for name in NAMES:
        key = number_key(name)
        if key in store:
            classes, chosen = (int(store[key][value][0]) for value in ("classes", "chosen"))
            within = "yes" if abs(classes - chosen) <= 2 else "no"
            shown = [f"{store[key].get(value, [np.nan])[0]:.2f}" for value in ("agreement", "by chance")]
            doubtful = "yes" if store[key].get("doubtful", [0.0])[0] else "no"
            rows.append([name, str(classes), str(chosen), within, *shown, doubtful])
    return markdown(["data set", "classes", "chosen", "within 2", "agreement", "by chance", "doubtful"], rows)


def _tolerances(store: Store) -> list[str]:
    """How often the number of clusters is within 2 of the classes if another share of the best is enough."""
    rows = []
    for tolerance in TOLERANCES:
        row = ["the best" if tolerance == 0 else f"within {100 * tolerance:g} %"]
        for names in HALVES.values():
            keys = [key for key in map(number_key, names) if key in store and "curve" in store[key]]
            measured = [store[key] for key in keys]
            hits = sum(abs(_chosen(values, tolerance) - values["classes"][0]) <= 2 for values in measured)
            row.append(f"{hits} of {len(measured)}")
        rows.append(row)
    return markdown(["smallest number whose rating is", *HALVES], rows)


def _chosen(values: Values, tolerance: float) -> float:
    best = max(values["curve"])
    pairs = zip(values["numbers"], values["curve"], strict=True)
    return min(number for number, rating in pairs if rating >= (1 - tolerance) * best)


def _outdated(store: Store) -> list[str]:
    """A sentence that names the cells that an earlier version of the code measured."""
    lines: dict[str, list[str]] = {}
    measurements = [
        cell
        for task in TASKS
        for step in task.steps
        for name in task.datasets
        for cell in task.cells(name, step, SEEDS)
    ]
    for cell in [*measurements, *map(number_cell, NAMES), *noise_cells()]:
        if cell.key in store and not store.has(cell.key, cell.source):
            _, table, *rest = cell.key.split("/")
            title = f"{table}, {rest[1]}" if len(rest) > 1 else table
            names = lines.setdefault(title, [])
            if rest[0] not in names:
                names.append(rest[0])
    if not lines:
        return ["Every figure was measured by the current version of the code."]
    shown = [f"- {title}: {', '.join(names)}" for title, names in lines.items()]
    return ["Measured by an earlier version of the code:", "", *shown]


def _noise(store: Store) -> list[str]:
    return markdown(["graph without clusters", "agreement", "by chance", "called doubtful"], rows_of(store))
