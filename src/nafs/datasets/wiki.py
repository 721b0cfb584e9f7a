"""Wiki from wiki.mat: pages, their words and the links between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nafs._support.errors import InputError


def load_wiki(path: str | Path) -> tuple[Any, Any, Any]:
    """Features (min-max scaled by column, as published), adjacency and labels; links are undirected."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        content = loadmat(path, variable_names=["fea", "gnd", "W"])
        links = content["W"] != 0
        return content["fea"], links.maximum(links.T), np.asarray(content["gnd"]).ravel()
    except (MatReadError, KeyError, ValueError, TypeError, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise InputError(f"{path} cannot be read as wiki.mat ({error})") from None
