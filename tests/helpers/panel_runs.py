"""Runs of the disk engine on panels."""

R = (0.0, 0.3, 1.0)  # of runs through files


def run_in(folder, graph, features, limit, method=None, **options):
    """The disk engine in a folder."""
    from nafs.engines import disk
    from nafs.smoothing import Method

    return disk.embed(graph, features, method or Method(3, R), folder=folder, memory_limit=limit, **options)
