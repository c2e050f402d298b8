"""What somebody took out of use or forgot, a run of `redistil` does not bring back."""

import pytest

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.store.without_embedder import open_without_embedder
from tests.bank.test_forgetting import NAMESPACE, STORES
from tests.bank.test_redistil import Named, filled, in_use, newer
from tests.loop_fakes import indexed_memory, lessons, open_store


def test_what_was_set_aside_stays_so_through_a_run_and_its_undoing():
    bank = filled(indexed_memory(), 4)
    bank.set_status(["a0", "a1", "b1"], "quarantined")
    bank.set_status(["a2"], "superseded")
    model = newer("one")
    done = bank.redistil(model)
    assert (done.distilled, done.superseded, done.reasons, len(model.calls)) == (1, 2, {"out_of_use": 3}, 1)
    assert in_use(bank) == ["title b0", "title b2", "one"]
    (new,) = [item.id for item in bank.items() if item.redistil_run]
    bank.set_status([new], "quarantined")
    assert bank.redistil(newer("one")).done == 1
    assert bank.undo_redistil(done.run) == (2, 0)
    assert in_use(bank) == ["title b0", "title b2", "title a3", "title b3"]
    assert bank.get(new).status == bank.get("a0").status == "quarantined"


@STORES
def test_a_lesson_that_was_forgotten_alone_is_not_taught_again(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank, model = filled(store), newer("one")
        assert bank.forget("a0") == ["a0"]
        assert bank.redistil(model, dry_run=True).reasons == {"out_of_use": 1}
        done = bank.redistil(model)
        assert (done.distilled, done.reasons, len(model.calls)) == (1, {"out_of_use": 1}, 1)
        assert in_use(bank) == ["title b0", "one"]
        assert bank.redistil(newer("two", name="newest")).reasons == {"out_of_use": 1}
        examples = bank.search_examples("red green task", k=9, min_score=None)
        assert {example.episode.id for example in examples} == {"e0", "e1"}
        assert kind == "memory" or store.verify().ok


def test_a_lesson_is_forgotten_alone_also_where_nothing_can_embed(tmp_path):
    with open_store("chroma", tmp_path / "bank") as store:
        filled(store)
    with open_without_embedder(tmp_path / "bank") as store:
        assert MemoryBank(store, NAMESPACE).forget("b0") == ["b0"]
        assert store.verify().ok
    with open_store("chroma", tmp_path / "bank") as store:
        assert MemoryBank(store, NAMESPACE).redistil(newer("one")).reasons == {"out_of_use": 1}


@pytest.mark.parametrize("remove", [lambda bank: bank.forget("a0"), lambda bank: bank.set_status("a0", "quarantined")])
def test_what_is_set_aside_while_the_model_answers_stays_so(remove):
    bank = filled(indexed_memory(), 1)

    def reply(_):
        remove(bank)
        return lessons("one")

    done = bank.redistil(Named(reply))
    assert (done.distilled, done.reasons) == (0, {"out_of_use": 1})
    assert in_use(bank) == ["title b0"]


def test_of_a_run_that_was_undone_a_forgotten_lesson_does_not_come_back():
    bank, model = filled(indexed_memory(), 1), newer("one", "two")
    run = bank.redistil(model).run
    (one,) = [item.id for item in bank.items() if item.title == "one"]
    bank.forget(one)
    bank.undo_redistil(run)
    assert in_use(bank) == ["title a0", "title b0"]
    assert (bank.redistil(model).distilled, len(model.calls)) == (1, 1)
    assert in_use(bank) == ["two"]
