"""All rivals by name: those of the paper in its order, then newer ones that need no training."""

from __future__ import annotations

from nafs._support.checks import check_choice
from nafs.rivals import (
    agc,
    age,
    appnp,
    arga,
    correct_and_smooth,
    daegc,
    dagnn,
    deepwalk,
    fastrp,
    features,
    gae,
    gala,
    gat,
    gcc,
    gcn,
    jknet,
    mgae,
    ndls,
    pprgo,
    s2cag,
    sagsc,
    smoothed,
    spectral,
)
from nafs.rivals.contract import CORA, TASKS, Rival

TIERS = ("none", "fast", "all")
MINUTE = 60.0

RIVALS: dict[str, Rival] = {
    rival.name: rival
    for rival in (
        features.RAW,
        features.SVD,
        spectral.SPECTRAL,
        deepwalk.DEEPWALK,
        gae.GAE,
        gae.VGAE,
        mgae.MGAE,
        arga.ARGA,
        arga.ARVGA,
        gala.GALA,
        agc.AGC,
        daegc.DAEGC,
        age.AGE,
        gcn.GCN,
        jknet.JKNET,
        correct_and_smooth.CORRECT_AND_SMOOTH,
        smoothed.SGC,
        gat.GAT,
        pprgo.PPRGO,
        appnp.APPNP,
        dagnn.DAGNN,
        smoothed.SSGC,
        smoothed.SIGN,
        ndls.NDLS,
        gcc.GCC,
        sagsc.SAGSC,
        s2cag.S2CAG,
        s2cag.M_S2CAG,
        fastrp.FASTRP,
    )
}


def rivals_for(task: str, tier: str = "fast", n_nodes: int = CORA) -> dict[str, Rival]:
    """The rivals for a task.

    Parameters
    ----------
    task : {"links", "clustering", "classification"}
    tier : {"none", "fast", "all"}
        "fast" leaves out those that take more than about a minute on a graph of that size.
    n_nodes : int
        By default that of Cora.

    Returns
    -------
    dict

    Examples
    --------
    >>> from nafs.rivals import rivals_for
    >>> "AGE" in rivals_for("links", "fast"), "AGE" in rivals_for("links", "all")
    (False, True)
    """
    check_choice("task", task, TASKS)
    check_choice("rivals", tier, TIERS)
    limit = {"none": 0.0, "fast": MINUTE, "all": float("inf")}[tier]
    return {
        name: rival
        for name, rival in RIVALS.items()
        if task in rival.tasks and rival.seconds(n_nodes) < limit
    }
