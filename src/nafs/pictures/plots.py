"""Matplotlib figures for papers and notebooks: maps, hops and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nafs._support.errors import InputError, MissingExtraError
from nafs.pictures.layout import tsne

if TYPE_CHECKING:
    from nafs.embedding import Embedding

# The colour-blind safe palette of Okabe and Ito; further classes differ by marker.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_MANY = 20_000  # points above which a map shows a sample


def new_figure(width: float, height: float) -> Any:
    """A matplotlib figure without a window."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("figures need matplotlib: pip install 'nafs[plot]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def plot_map(
    embedding: Embedding,
    colour: Sequence[Any] | NDArray[Any] | None = None,
    *,
    title: str = "",
    seed: int = 0,
    axis: Any = None,
) -> Any:
    """A t-SNE map of an embedding.

    Parameters
    ----------
    embedding : Embedding
    colour : sequence, optional
        One class or number per node; the labels by default.
    title : str
    seed : int
        Seed of the sample that is drawn if there are more than 20,000 nodes.
    axis : matplotlib axis, optional
        Axis to draw on; by default a new figure.

    Returns
    -------
    matplotlib figure
    """
    values = colour
    if values is None and embedding.labels is not None:
        values = embedding.labels.to_arrow().to_pylist()
    if values is not None and len(values) != len(embedding):
        raise InputError(f"{len(values)} colours for {len(embedding)} nodes; every node needs one")
    rows = np.arange(len(embedding))
    if len(rows) > _MANY:
        rows = np.sort(np.random.default_rng(seed).choice(len(rows), _MANY, replace=False))
        title = f"{title} ({_MANY:,} of {len(embedding):,} nodes)".strip()
    axis = new_figure(6.4, 5.6).subplots() if axis is None else axis
    places = tsne(np.asarray(embedding.matrix)[rows])
    scatter(axis, places, None if values is None else [values[int(i)] for i in rows])
    axis.set_title(title)
    axis.set_xlabel("t-SNE 1")
    axis.set_ylabel("t-SNE 2")
    return axis.figure


def scatter(axis: Any, places: NDArray[Any], values: Sequence[Any] | None, size: float | None = None) -> None:
    """Scatter points, coloured by class with a legend or by number with a colour bar."""
    size = size or max(1.5, min(14.0, 20_000 / len(places)))
    axis.set_xticks([])
    axis.set_yticks([])
    options = {"s": size, "linewidths": 0}
    if values is None:
        axis.scatter(*places.T, color=COLOURS[0], **options)
        return
    numbers = all(isinstance(value, (float, np.floating)) for value in values)
    if numbers:
        points = axis.scatter(*places.T, c=np.asarray(values, float), cmap="cividis", **options)
        axis.figure.colorbar(points, ax=axis)
        return
    known = sorted(
        {value for value in values if value is not None}, key=lambda value: (str(type(value)), value)
    )
    for i, name in enumerate(known):
        members = np.asarray([value == name for value in values])
        marker = MARKERS[i // len(COLOURS) % len(MARKERS)]
        axis.scatter(
            *places[members].T, color=COLOURS[i % len(COLOURS)], marker=marker, label=str(name), **options
        )
    unknown = np.asarray([value is None for value in values])
    if unknown.any():
        axis.scatter(*places[unknown].T, color="#bbbbbb", label="unknown", **options)
    if len(known) <= len(COLOURS) * 3:
        axis.legend(markerscale=max(1.0, (30 / size) ** 0.5), fontsize=8, loc="best")


def plot_hop_grid(
    features: Any,
    adjacency: Any,
    colour: Sequence[Any] | None = None,
    *,
    hops: Sequence[int] = (0, 5, 10, 20, 50, 100),
    r: float = 0.5,
) -> Any:
    """Maps of the embedding (top) and of Â^k X (bottom) for several numbers of hops, as in the paper.

    Parameters
    ----------
    features, adjacency
        As :class:`nafs.NAFS` takes them.
    colour : sequence, optional
        One class or number per node.
    hops : sequence of ints
    r : float

    Returns
    -------
    matplotlib figure
    """
    from nafs.estimator import NAFS

    figure = new_figure(2.3 * len(hops), 5.2)
    axes = figure.subplots(2, len(hops), squeeze=False)
    for line, (name, weighting) in zip(axes, (("NAFS", "adaptive"), ("Â^k X", "last")), strict=True):
        places = None
        sweep = NAFS(max(hops), r, weighting=weighting).sweep(features, adjacency=adjacency, hops=hops)
        for axis, (hop, matrix) in zip(line, sweep, strict=True):
            places = tsne(matrix, start=places)
            scatter(axis, places, colour, size=2.0)
            if axis.get_legend() is not None:
                axis.get_legend().remove()
            axis.set_title("the features" if hop == 0 else f"{hop} hops", fontsize=10)
        line[0].set_ylabel(name)
    return figure


def plot_weights_by_degree(
    features: Any, adjacency: Any, *, n_hops: int = 20, r: float = 0.5, groups: int = 4
) -> Any:
    """Mean smoothing weight of each hop, for nodes grouped by degree.

    Parameters
    ----------
    features, adjacency
        As :class:`nafs.NAFS` takes them.
    n_hops : int
    r : float
    groups : int
        Number of groups; each has about equally many nodes.

    Returns
    -------
    matplotlib figure
    """
    from nafs.graph import read_adjacency
    from nafs.smoothing import smoothing_weights

    graph = read_adjacency(adjacency, directed=False)
    weights = smoothing_weights(features, graph, n_hops, r)
    degrees = np.diff(graph.indptr)
    edges = np.unique(np.quantile(degrees, np.linspace(0, 1, groups + 1)[1:-1], method="higher"))
    groups_of_nodes = np.searchsorted(edges, degrees, "right")
    figure = new_figure(7, 4.5)
    axis = figure.subplots()
    for i, group in enumerate(np.unique(groups_of_nodes)):
        members = groups_of_nodes == group
        label = f"degree {degrees[members].min()} to {degrees[members].max()} ({members.sum():,} nodes)"
        axis.plot(weights[members].mean(axis=0), color=COLOURS[i % 8], marker=MARKERS[i % 8], label=label)
    axis.set_xlabel("hop k")
    axis.set_ylabel("mean of w_i(k)")
    axis.grid(alpha=0.3)
    axis.legend()
    return figure


def plot_curves(
    curves: Mapping[str, tuple[Sequence[float], Sequence[Any]]],
    *,
    x: str = "number of hops K",
    y: str = "NMI, percent",
    title: str = "",
) -> Any:
    """Curves of means with standard deviations.

    Parameters
    ----------
    curves : mapping of name to (x values, measurements at each x)
    x, y, title : str

    Returns
    -------
    matplotlib figure
    """
    figure = new_figure(7, 4.5)
    axis = figure.subplots()
    for i, (name, (places, values)) in enumerate(curves.items()):
        means, deviations = [np.mean(v) for v in values], [np.std(v) for v in values]
        style = {"color": COLOURS[i % 8], "marker": MARKERS[i % 8]}
        axis.errorbar(places, means, deviations, capsize=3, label=name, **style)
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    axis.set_title(title)
    axis.grid(alpha=0.3)
    axis.legend()
    return figure


def plot_bars(
    bars: Mapping[str, Sequence[float]], *, title: str = "", label: str = "", strong: str = ""
) -> Any:
    """Horizontal bars of means with deviations, in the order of the mapping.

    Parameters
    ----------
    bars : mapping
        Several values under each name.
    title, label : str
        Above the figure, and under its axis.
    strong : str
        Name of the bar to stress.

    Returns
    -------
    matplotlib figure
    """
    figure = new_figure(7, 1.2 + 0.3 * len(bars))
    axis = figure.subplots()
    means = [float(np.mean(values)) for values in bars.values()]
    spread = [float(np.std(values)) for values in bars.values()]
    colours = [COLOURS[1] if name == strong else COLOURS[0] for name in bars]
    drawn = axis.barh(range(len(bars)), means, xerr=spread, color=colours, ecolor="#555555")
    axis.bar_label(drawn, [f"{mean:.3f}" for mean in means], padding=6, fontsize=8)
    axis.set_yticks(range(len(bars)), list(bars))
    axis.invert_yaxis()
    axis.margins(x=0.12)
    axis.set_xlabel(label)
    axis.set_title(title)
    return figure
