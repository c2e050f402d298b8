"""What was decided on an adapter is written down, can be taken back, and binds what is used."""

import pytest

from reasoningbank_langgraph.errors import AdapterError
from reasoningbank_langgraph.experiments.folder import alone_in
from reasoningbank_langgraph.local import adapter_in_use
from reasoningbank_langgraph.local.adapters import HISTORY, read_history
from reasoningbank_langgraph.train.adapters import accept, reject, rollback
from tests.train.adapted import ALL, adapter_in, sha256_of, states, used


def test_a_rollback_goes_back_step_by_step_to_the_base_and_no_further(adapters, validation, served):
    served(base=set(), sums=set(range(9)), more=ALL)
    for name in ("sums", "more"):
        accept(adapter_in(adapters, name), validation)
    assert (rollback(adapters, "it was rude").adapter, used(adapters)) == ("more", "sums")
    assert states(adapters) == {"sums": "in use", "more": "rolled back"}
    assert (rollback(adapters).adapter, used(adapters)) == ("sums", None)
    with pytest.raises(AdapterError, match=r"no adapter of .* is in use: there is nothing to go back from"):
        rollback(adapters)
    assert [one.outcome for one in read_history(adapters)] == ["accepted"] * 2 + ["rolled back"] * 2
    assert read_history(adapters)[2].reason == "it was rude"


def test_what_was_rolled_back_is_accepted_again_by_the_same_trial(adapters, validation, served):
    servers = served(base=set(), sums=ALL)
    sums = adapter_in(adapters, "sums")
    accept(sums, validation)
    rollback(adapters)
    servers.asked.clear()
    assert accept(sums, validation).outcome == "accepted"
    assert (used(adapters), servers.asked) == ("sums", [])


def test_a_rejected_adapter_is_not_used_again_under_any_name(adapters, validation, served):
    served(base=set(), sums=set(range(9)), more=ALL)
    sums, more = (adapter_in(adapters, name) for name in ("sums", "more"))
    accept(sums, validation)
    accept(more, validation)
    assert reject(more, "it names customers").outcome == "rejected"
    assert used(adapters) == "sums"
    with pytest.raises(AdapterError, match=r"was rejected on .* \(it names customers\): tune another one"):
        accept(more, validation)
    other = adapter_in(adapters, "other")
    (other / "other.gguf").write_text("more")
    with pytest.raises(AdapterError, match="names customers"):
        accept(other, validation)
    reject(sums, "too old")
    assert used(adapters) is None
    assert states(adapters) == {"sums": "rejected", "more": "rejected", "other": "not tried"}


def test_an_adapter_that_is_gone_can_still_be_rejected(adapters, validation, served):
    served(base=set(), sums=ALL)
    sums = adapter_in(adapters, "sums")
    accept(sums, validation)
    sums.rename(adapters.parent / "elsewhere")
    with pytest.raises(AdapterError, match=r"sums is in use and is not there: bring it back, or run `.* rollback .*`"):
        adapter_in_use(adapters)
    assert states(adapters) == {"sums": "gone"}
    reject(sums, "lost")
    adapter_in(adapters, "more")
    assert used(adapters) is None


def test_an_adapter_whose_weights_are_gone_or_whose_card_is_damaged_can_be_rejected_and_not_accepted(
    adapters, validation, served
):
    served(base=set(), sums=set(range(9)), more=ALL)
    sums, more = (adapter_in(adapters, name) for name in ("sums", "more"))
    accept(sums, validation)
    accept(more, validation)
    (sums / "sums.gguf").unlink()
    (more / "card.json").write_text('{"adapter": "more.gguf"}')
    with pytest.raises(AdapterError, match=r"card\.json is no card of an adapter .*KeyError.*: bring it back, or tune"):
        accept(more, validation)
    for folder in (sums, more):
        assert reject(folder, "half of it is lost").outcome == "rejected"
    assert [one.sha256 for one in read_history(adapters)] == [sha256_of(name) for name in ("sums", "more")] * 2


def test_weights_that_changed_since_they_were_accepted_are_not_used(adapters, validation, served):
    served(base=set(), sums=ALL)
    sums = adapter_in(adapters, "sums")
    accept(sums, validation)
    (sums / "sums.gguf").write_text("others")
    with pytest.raises(AdapterError, match=r"weights are not those that were accepted on .*: bring them back, or run"):
        adapter_in_use(adapters)
    assert states(adapters) == {"sums": "changed"}


def test_adapters_of_another_base_are_kept_apart(adapters, validation, served):
    served(base=set(), sums=ALL)
    sums, odd = adapter_in(adapters, "sums"), adapter_in(adapters, "odd", base="another")
    with pytest.raises(AdapterError, match=r"holds adapters of several bases \(odd, sums\)"):
        adapter_in_use(adapters)
    accept(sums, validation)
    assert used(adapters) == "sums"
    with pytest.raises(AdapterError, match="odd has another base than sums, which is in use beside it: move it"):
        accept(odd, validation)


def test_an_adapter_that_is_not_finished_is_neither_tried_nor_used(adapters, validation):
    (begun := adapters / "sums").mkdir(parents=True)
    (begun / "settings.json").write_text("{}")
    for decide in (lambda: accept(begun, validation), lambda: reject(begun, "too slow")):
        with pytest.raises(AdapterError, match=r"no finished adapter: `reasoningbank tune --out .*` makes one, or"):
            decide()
    with pytest.raises(AdapterError, match="holds no finished adapter"):
        adapter_in_use(adapters)
    assert states(adapters) == {"sums": "unfinished"}
    (gone := adapter_in(adapters, "gone") / "gone.gguf").unlink()
    with pytest.raises(AdapterError, match=r"gone.gguf is gone: bring it back"):
        accept(gone.parent, validation)


def test_what_is_in_use_may_not_change_while_a_trial_is_at_work(adapters, validation, served):
    servers = served(base=set(), sums=set(range(9)), more=ALL)
    accept(adapter_in(adapters, "sums"), validation)
    more = adapter_in(adapters, "more")
    servers.before = lambda weights, number: rollback(adapters) and None if number == 19 else None
    with pytest.raises(AdapterError, match=r"what is in use in .* changed meanwhile: run the same command again"):
        accept(more, validation)
    servers.before = lambda weights, number: None
    assert accept(more, validation).outcome == "accepted"


def test_one_adapter_is_tried_once_at_a_time_and_one_decision_is_taken_at_a_time(adapters, validation, served):
    served(base=set(), sums=ALL)
    sums = adapter_in(adapters, "sums")
    for folder in (sums, adapters):
        with alone_in(folder), pytest.raises(AdapterError, match=r"is in use by process \d+"):
            accept(sums, validation)
    assert accept(sums, validation).outcome == "accepted"


def test_a_history_that_somebody_changed_is_named_with_its_line(adapters):
    adapter_in(adapters, "sums")
    (adapters / HISTORY).write_text('{"adapter": "sums"}\n')
    with pytest.raises(AdapterError, match=r"history\.jsonl, line 1: no decision on an adapter"):
        adapter_in_use(adapters)
