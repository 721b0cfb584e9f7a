"""How every rival that learns from labels is trained; its own file only defines its network.

torch is imported inside functions: the package never needs it unless a trained rival is fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nafs.rivals.contract import Fit, Problem, Progress
from nafs.rivals.tensors import drop, features_tensor, seeded

Forward = Callable[[bool], Any]  # takes whether this is training, returns logits of all nodes
Network = Callable[..., tuple[Forward, list[dict[str, Any]]]]


def classifier(network: Network) -> Fit:
    """The fit of a rival that predicts classes by a network.

    Parameters
    ----------
    network : callable
        Takes a problem, the features as a tensor with rows that sum to 1, and the rival's settings. Returns
        the forward pass and Adam's parameter groups.

    Returns
    -------
    callable
    """

    @wraps(network)
    def fit(problem: Problem, seed: int, progress: Progress, **settings: Any) -> NDArray[np.int64]:
        logits = train_classifier(network, problem, seed, progress, **settings)
        return np.asarray(logits.argmax(dim=1).numpy())

    return fit


def train_classifier(
    network: Network,
    problem: Problem,
    seed: int,
    progress: Progress,
    *,
    epochs: int,
    lr: float,
    patience: int,
    **settings: Any,
) -> Any:
    """Train a network on the training nodes; return its logits at the best epoch on validation nodes.

    Parameters
    ----------
    network : callable
        As for :func:`classifier`.
    problem : Problem
    seed : int
    progress : callable
    epochs, lr
        Of Adam.
    patience : int
        Stop after this many epochs without a better validation accuracy or a lower validation loss.
    **settings
        Of the network.

    Returns
    -------
    Tensor of shape (n, classes)
    """
    import torch
    from torch.nn.functional import cross_entropy

    assert problem.codes is not None
    codes = torch.from_numpy(problem.codes)
    train, validation = torch.from_numpy(problem.train), torch.from_numpy(problem.validation)
    best: tuple[float, float] = (-1.0, -np.inf)
    lowest, waited, kept = np.inf, 0, None
    with seeded(seed):
        forward, groups = network(problem, features_tensor(problem, rows_to_one=True), **settings)
        optimizer = torch.optim.Adam(groups, lr=lr)
        for epoch in range(epochs):
            optimizer.zero_grad()
            cross_entropy(forward(True)[train], codes[train]).backward()
            optimizer.step()
            with torch.no_grad():
                logits = forward(False)
                loss = float(cross_entropy(logits[validation], codes[validation]))
                accuracy = float((logits[validation].argmax(dim=1) == codes[validation]).float().mean())
            progress(epoch + 1, epochs)
            waited = 0 if loss < lowest or accuracy > best[0] else waited + 1
            lowest = min(lowest, loss)
            if (accuracy, -loss) > best:
                best, kept = (accuracy, -loss), logits
            if waited >= patience:
                break
    return kept


def two_layers(
    X: Any, first: Any, second: Any, dropout: float, *graph: Any, activation: Any = None
) -> Forward:
    """The forward pass of two layers with dropout before each; ``graph`` holds further arguments of both."""
    from torch.nn.functional import relu

    activation = activation or relu

    def forward(training: bool) -> Any:
        first.train(training)
        second.train(training)
        H = activation(first(drop(X, dropout, training), *graph))
        return second(drop(H, dropout, training), *graph)

    return forward


def decayed(decay: float, *modules: Any) -> list[dict[str, Any]]:
    """The parameters of some modules as a group of Adam with a weight decay."""
    return [{"params": [p for module in modules for p in module.parameters()], "weight_decay": decay}]
