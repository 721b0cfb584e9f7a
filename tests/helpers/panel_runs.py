"""Short helpers that build problems and run engines."""

from nafs.engines.base import FeatureSize, Problem
from nafs.engines.disk import DiskEngine
from nafs.engines.memory import MemoryEngine
from nafs.engines.resources import Resources
from nafs.smoothing import Method

R = (0.0, 0.3, 1.0)  # of runs through files


def problem_of(graph, size, method=None, *, held=0, dtype="float32", resume=False, client=None, **resources):
    """A problem from a graph, and features or their number of columns."""
    if isinstance(size, int):
        size = FeatureSize(size, 4 * graph.n_nodes * size)
    elif not isinstance(size, FeatureSize):
        size = FeatureSize.of(size)
    method = Method(3, R) if method is None else method
    return Problem(graph, size, method, Resources(**resources), held, dtype, resume, client)


def run_engine(engine, graph, features, method=None, *, progress=None, **options):
    """Run an engine; options as in `problem_of`."""
    problem = problem_of(graph, features, method, **options)
    return engine.run(problem, engine.plan(problem), features, progress).matrix


def in_memory(graph, features, method=None, **options):
    return run_engine(MemoryEngine(), graph, features, method, **options)


def on_disk(folder, graph, features, limit, method=None, **options):
    """The disk engine in a folder."""
    return run_engine(DiskEngine(), graph, features, method, work_dir=folder, memory_limit=limit, **options)
