"""A PyG transform: NAFS embeddings as node features. torch is imported when the transform is used."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from nafs._support.checks import check_choice
from nafs._support.errors import InputError, MissingExtraError
from nafs.embedding import embed
from nafs.readers import from_pyg


class AddNAFS:
    """Add the NAFS embedding of a PyG ``Data`` object's nodes, in a ``Compose`` or as ``pre_transform``.

    Parameters
    ----------
    attr : str, optional
        Attribute to store the embedding in; ``None`` puts it into ``x``.
    mode : {"cat", "replace"}
        With ``attr=None``: append to ``x``, or replace it.
    **options
        As in :func:`nafs.embed`.

    Examples
    --------
    >>> from nafs.pyg import AddNAFS
    >>> AddNAFS(n_hops=10, mode="replace")
    AddNAFS(mode='replace', n_hops=10)
    """

    def __init__(self, attr: str | None = None, mode: str = "cat", **options: Any) -> None:
        check_choice("mode", mode, ("cat", "replace"))
        self.attr, self.mode, self.options = attr, mode, options

    def __call__(self, data: Any) -> Any:
        """The data with the embedding; the object passed in stays as it is."""
        return self.forward(copy.copy(data))

    def forward(self, data: Any) -> Any:
        """Add the embedding to the data."""
        try:
            import torch
        except ImportError:
            raise MissingExtraError("nafs.pyg needs torch and torch_geometric: pip install them") from None
        if hasattr(data, "node_types"):
            raise InputError(
                "AddNAFS takes a Data object with one kind of nodes; use data.to_homogeneous(), or "
                "nafs.from_pyg(data, node_type=..., meta_path=[...]) for one kind of a HeteroData"
            )
        matrix = torch.from_numpy(np.ascontiguousarray(embed(from_pyg(data), **self.options).matrix))
        if self.attr is not None:
            setattr(data, self.attr, matrix)
        elif self.mode == "cat" and data.x is not None:
            x = data.x.view(-1, 1) if data.x.dim() == 1 else data.x
            data.x = torch.cat([x, matrix.to(x.device, x.dtype)], dim=-1)
        else:
            data.x = matrix
        return data

    def __repr__(self) -> str:
        shown = {"attr": self.attr, "mode": self.mode} | self.options
        words = [f"{name}={value!r}" for name, value in shown.items() if value is not None]
        return f"AddNAFS({', '.join(words)})"
