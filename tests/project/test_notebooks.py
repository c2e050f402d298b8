"""The notebooks run from top to bottom on the packaged model, and keep their outputs."""

import pytest

from tests.conftest import REPOSITORY

NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*.ipynb"))


@pytest.mark.real_model
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient(
        nbformat.read(path, as_version=4), timeout=300, kernel_name="python3"
    )
    client.execute()
    cells = [cell for cell in client.nb.cells if cell.cell_type == "code"]
    outputs = ["".join(output.get("text", "") for output in cell.outputs) for cell in cells]
    assert "recalled: []" in outputs[3]
    assert cells[-2].outputs[0]["data"]["text/plain"] == "True"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_with_its_outputs(path):
    nbformat = pytest.importorskip("nbformat")
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    assert any(cell.outputs for cell in cells)
    assert not [cell for cell in cells for output in cell.outputs if output.output_type == "error"]
