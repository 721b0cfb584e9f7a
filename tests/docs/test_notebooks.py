"""The notebooks run from top to bottom."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_there_are_two():
    assert len(NOTEBOOKS) >= 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Jupyter's own packages
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, tmp_path, monkeypatch):
    for module in ("nbclient", "ipykernel", "skrub", "matplotlib", "openTSNE"):
        pytest.importorskip(module)
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    from notebooks import executed

    notebook = executed(path, tmp_path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert all(cell.execution_count for cell in code)
    assert any("image/png" in output.get("data", {}) for cell in code for output in cell.outputs)
    assert not any(output.get("name") == "stderr" for cell in code for output in cell.outputs)
