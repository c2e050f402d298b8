"""The notebooks run from top to bottom, print what they are kept with, and read like a lesson."""

import pytest

from tests.conftest import REPOSITORY

NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*.ipynb"))
SAID = {
    "01_closed_loop": ["shown:   []", "kept:", "had been shown", "True"],
    "02_inside_the_bank": [
        "0.71  Time from distance and speed",
        "[]",
        "quarantined  too wide",
        "5 now, 3 then",
        "False",
    ],
    "03_several_attempts": ["rollout 4:", "by majority", "spared:"],
    "04_does_it_help": ["memory      58 right of 98", "8 fixed, 20 broken of 98, exact McNemar p = 0.036"],
    "05_an_agent": ["price({'item': 'kettles'})", "['Items are named in the singular']", "had read 0"],
}
"""What must be in the outputs of each."""


def outputs(notebook):
    every = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in every)


def test_every_notebook_is_known_here():
    assert [path.stem for path in NOTEBOOKS] == list(SAID)


@pytest.fixture(scope="module")
def kernel():
    """One kernel for all, emptied before each: what they import takes longer than what they do."""
    manager = pytest.importorskip("jupyter_client").KernelManager(kernel_name="python3")
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.mark.real_model
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path, kernel):
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    resources = {"metadata": {"path": str(path.parent)}}
    client = pytest.importorskip("nbclient").NotebookClient(notebook, kernel, timeout=300, resources=resources)
    client.execute()
    client.kc.stop_channels()
    said = outputs(client.nb)
    assert [text for text in SAID[path.stem] if text not in said] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_with_its_outputs(path):
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    assert not [cell for cell in cells for output in cell.outputs if output.output_type == "error"]
    assert [text for text in SAID[path.stem] if text not in outputs(notebook)] == []
