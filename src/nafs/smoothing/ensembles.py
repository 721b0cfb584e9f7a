"""How the embeddings of several r are combined: one record for each ensemble."""

from __future__ import annotations

from dataclasses import dataclass

from nafs.smoothing import _kernel


@dataclass(frozen=True)
class Ensemble:
    """What is known about one ensemble.

    Parameters
    ----------
    name : str
        As users write it.
    code : _kernel.Ensemble
    side_by_side : bool
        Every r has columns of its own.
    averages : bool
        Each r is divided by their number.
    commutes_with_rotations : bool
        The embedding of rotated features is the rotated embedding, so that features can be reduced to their
        leading directions first.
    """

    name: str
    code: _kernel.Ensemble
    side_by_side: bool = False
    averages: bool = False
    commutes_with_rotations: bool = True

    def factor(self, n_r: int) -> float:
        """What the embedding of each r is multiplied by."""
        return 1.0 / n_r if self.averages else 1.0


_ENSEMBLES = {
    record.name: record
    for record in (
        Ensemble("mean", _kernel.Ensemble.add, averages=True),
        Ensemble("max", _kernel.Ensemble.maximum, commutes_with_rotations=False),
        Ensemble("concat", _kernel.Ensemble.write, side_by_side=True),
    )
}
ENSEMBLES = tuple(_ENSEMBLES)


def ensemble_named(name: str) -> Ensemble:
    """The record of an ensemble.

    Examples
    --------
    >>> from nafs.smoothing.ensembles import ensemble_named
    >>> ensemble_named("concat").side_by_side
    True
    """
    return _ENSEMBLES[name]
