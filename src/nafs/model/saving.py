"""Which parts of a model are saved, and how a saved model is put together again.

:mod:`nafs.model.storage` handles the files; this module knows their meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.scratch import Allocate
from nafs.graph import Graph
from nafs.model.drift import Drift
from nafs.model.journal import LIST_ARRAYS, Journal, check_change
from nafs.model.neighbors import LISTED, Rewritten
from nafs.model.recipe import Recipe
from nafs.model.request import Nodes
from nafs.model.storage import (
    Place,
    append,
    is_saved_model,
    load_base,
    load_changes,
    method_of,
    plain_method,
    read_about,
    reading,
    save_base,
)
from nafs.model.store import Store


@dataclass
class Parts:
    """The parts of a model besides its store."""

    recipe: Recipe
    settings: dict[str, Any]
    drift: Drift
    self_loops: bool


def save_parts(store: Store, parts: Parts, place: Place | None, folder: Path, *, force: bool) -> Place:
    """Save a model; one that was loaded from the folder adds only the changes since.

    Returns the new place of the model.
    """
    if place is not None and not (is_saved_model(folder) and folder.resolve() == place.folder):
        place = None
    journal = store.journal
    if place and journal and journal.empty:
        return place
    if place and journal and _fits(store, journal) and append(place, *_changes(store, parts.drift, journal)):
        store.journal = Journal(len(store.nodes.ids))
        return place
    recipe, arrays = parts.recipe.to_plain()
    about = {
        "method": plain_method(store.method),
        "columns": store.kept.features.shape[1],
        "self_loops": parts.self_loops,
        "settings": parts.settings,
        "recipe": recipe,
        "drift": parts.drift.to_plain(),
        "updates": store.n_updates,
    }
    n = len(store.nodes.ids)
    adjacency = store.lists.to_adjacency(np.ones(n, bool), directed=store.directed)
    place = save_base(
        folder,
        Graph(adjacency, ids=store.nodes.ids),
        store.kept,
        store.nodes.alive,
        about,
        arrays,
        force=force or place is not None,
        replaces=place,
    )
    store.journal = Journal(n)
    return place


def _fits(store: Store, journal: Journal) -> bool:
    """Whether the changed rows fit into the memory limit; a whole model is written block by block."""
    room = store.room()
    if room is None:
        return True
    row = sum(array.nbytes // max(1, len(array)) for array in store.kept.arrays().values())
    lists = sum(int(store.lists.counts[journal.list_rows(name)].sum()) for name in ("lists", "readers"))
    return len(journal.rows()) * row + LISTED * lists <= room


def load_parts(
    folder: Path, *, n_threads: int, limit: int | None, allocate: Allocate
) -> tuple[Store, Parts, Place]:
    """Read a saved model; its large arrays stay on disk until they are needed."""
    about = read_about(folder)
    with reading(folder):
        method = method_of(about)
        graph, kept, alive, arrays = load_base(folder, about, method)
        store = Store(method, graph, kept, n_threads=n_threads, allocate=allocate, limit=limit)
        store.nodes, store.n_updates = Nodes(graph.id_array, alive), int(about["updates"])
        recipe = Recipe.from_plain(about["recipe"], arrays)
        recipe.check(kept.features.shape[1])
        parts = Parts(
            recipe,
            about["settings"],
            Drift.from_plain(about["drift"]),
            bool(about["self_loops"]),
        )
        n_changes = 0
        for change, rows in load_changes(folder):
            _replay(store, change, rows)
            parts.drift = Drift.from_plain(change["drift"])
            n_changes += 1
    store.journal = Journal(len(store.nodes.ids))
    return store, parts, Place(folder.resolve(), about["token"], n_changes)


def _changes(store: Store, drift: Drift, journal: Journal) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The differences from the folder: arrays and values for JSON."""
    nodes, kept = store.nodes, store.kept
    rows = journal.rows()
    arrays = {name: array[rows] for name, array in kept.arrays().items() if name != "dropped"}
    arrays |= {"rows": rows, "dropped": kept.dropped[: len(nodes.ids)], "alive": nodes.alive}
    lists = {"lists": store.lists} | ({"readers": store.readers} if store.directed else {})
    for name, part in lists.items():
        changed = journal.list_rows(name)
        _, neighbors, weights = part.entries(changed)
        arrays |= {
            f"{name}_rows": changed,
            f"{name}_counts": part.counts[changed],
            f"{name}_indices": neighbors,
            f"{name}_weights": weights,
        }
    about = {
        "ids": nodes.ids[journal.n_ids :].to_pylist(),
        "text_ids": str(nodes.ids.type) != "int64",
        "drift": drift.to_plain(),
        "updates": store.n_updates,
    }
    return arrays, about


def _replay(store: Store, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Apply a change from the journal."""
    import pyarrow as pa

    ids = store.nodes.ids
    if about["text_ids"]:
        ids = ids.cast(pa.large_string())
    ids = pa.concat_arrays([ids, pa.array(about["ids"], ids.type)])
    if ids.null_count:
        raise ValueError("an id of its journal is missing")
    check_change(arrays, store.kept, len(ids), directed=store.directed)
    store.grow(len(ids))
    for name, array in store.kept.arrays().items():
        if name == "dropped":
            array[: len(ids)] = arrays[name]
        else:
            array[arrays["rows"]] = arrays[name]
    for name, part in (("lists", store.lists), ("readers", store.readers)):
        if f"{name}_rows" in arrays:
            part.write(Rewritten(*(arrays[f"{name}_{suffix}"] for suffix in LIST_ARRAYS)))
    store.nodes, store.n_updates = Nodes(ids, arrays["alive"]), int(about["updates"])
