"""The search for garbage is put off while many objects are made, and is then as it was."""

import gc

import pytest

from reasoningbank_langgraph.bank.collector import collector_paused


@pytest.fixture(params=[True, False], ids=["on", "off"])
def was_on(request):
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


def test_it_is_off_inside_and_afterwards_as_it_was(was_on):
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled() == was_on


def test_an_error_inside_leaves_it_as_it_was(was_on):
    with pytest.raises(KeyError), collector_paused():
        raise KeyError
    assert gc.isenabled() == was_on
