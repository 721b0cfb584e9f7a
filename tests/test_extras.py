"""`pip install nafs` is enough for the estimator; a part whose package is missing names the extra."""

import subprocess
import sys

OPTIONAL = (
    "duckdb", "pooch", "typer", "rich", "distributed", "usearch", "skrub", "matplotlib", "openTSNE", "pandas",
    "polars", "networkx", "igraph", "torch",
)  # fmt: skip

SETUP = f"""
import sys

class NotInstalled:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {OPTIONAL}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, NotInstalled)
import numpy as np
import nafs
from nafs.datasets import contextual_sbm, example_table, load_dataset
graph = contextual_sbm(60, n_classes=2, homophily=0.9, seed=0)
"""


def without_extras(code):
    return subprocess.run([sys.executable, "-c", SETUP + code], check=False, capture_output=True, text=True)


def test_the_estimator_and_what_follows_from_it_need_no_extra(tmp_path):
    run = without_extras(f"""
assert nafs.NAFS(2).fit_transform(np.eye(4), adjacency=np.ones((4, 4))).shape == (4, 4)
embedding = nafs.embed(graph, n_hops="auto")
embedding.write({str(tmp_path / "e.parquet")!r})
assert embedding.similar(0, k=3).num_rows == 3
assert embedding.classify().to_arrow().num_rows == 60
assert nafs.cluster(graph).to_arrow().num_rows == 60
assert load_dataset("digits").graph.n_nodes == 1797
""")
    assert run.returncode == 0, run.stderr


def test_a_missing_package_is_named_with_its_extra():
    cases = {
        "nafs.read_graph(example_table('citations'))": "needs duckdb: pip install 'nafs[files]'",
        "nafs.from_edges((['a'], ['b']))": "needs duckdb: pip install 'nafs[files]'",
        "nafs.pictures.plot_map(nafs.embed(graph, n_hops=1))": "pip install 'nafs[plot]'",
        "nafs.embed(graph, n_hops=1, engine='dask')": "pip install 'nafs[dask]'",
        "nafs.embed(graph, n_hops=1).to_polars()": "to_polars() needs polars: pip install polars",
        "nafs.embed(graph, n_hops=1).to_pandas()": "to_pandas() needs pandas: pip install pandas",
        "nafs.cluster(graph, 2).to_pandas()": "to_pandas() needs pandas: pip install pandas",
        "nafs.embed(graph, n_hops=1).classify().to_pandas()": "to_pandas() needs pandas: pip install pandas",
    }
    run = without_extras(f"""
for case in {list(cases)}:
    try:
        eval(case)
    except nafs.InputError as error:
        print(error)
""")
    lines = run.stdout.splitlines()
    assert len(lines) == len(cases), run.stdout + run.stderr
    assert all(line.endswith(message) for line, message in zip(lines, cases.values(), strict=True)), lines


def test_the_command_line_names_its_extra():
    run = without_extras("from nafs.cli.main import main; main(['describe', 'x.csv'])")
    assert run.returncode == 2
    assert run.stderr == "error: the command line needs typer: pip install 'nafs[cli]'\n"
