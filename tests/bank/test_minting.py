"""What becomes of a lesson the bank has already: decided once, written with its attempt, and never across branches."""

from datetime import timedelta

import pytest
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph import MemoryBank, Policy
from reasoningbank_langgraph.errors import UnmeasuredEmbedderError
from reasoningbank_langgraph.namespaces import LEFT_OUT, beside
from reasoningbank_langgraph.policies import Treatment
from reasoningbank_langgraph.records import Provenance, utc_now
from tests.bank.test_bank import lesson
from tests.bank.test_episodes import episode
from tests.loop_fakes import Switched, indexed_memory, open_store

NAMESPACE = ("m",)
STORES = pytest.mark.parametrize("kind", ["memory", "chroma"])
LINK = Policy(similarity=0.8)
SAME = {"title": "check the units", "description": "when units differ", "content": "convert first"}


def attempt(name, digest=None, task=None, **changes):
    source = Provenance(attempt_digest=digest or f"digest {name}", run_id=f"run {name}")
    return lesson(name, task or f"task {name}", **{**SAME, "provenance": source, **changes})


def in_use(bank):
    return [item.id for item in bank.items() if item.status == "active"]


def effects(written):
    return [(one.item_id, one.effect, one.to) for one in written.treated]


@STORES
def test_an_equal_lesson_is_left_out_and_what_was_decided_stays_decided(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, NAMESPACE)
        bank.add([attempt("a")], policy="skip")
        first = bank.add([attempt("b", title="Check  the UNITS")], policy="skip")
        assert (first.ids, first.added, effects(first)) == ([], 0, [("b", "skipped", "a")])
        bank.forget("a")
        again = bank.add([attempt("b", title="Check  the UNITS")], policy="skip")
        assert (again.ids, again.added, effects(again)) == ([], 0, [])
        replayed = bank.add([attempt("c", digest="digest b", experience="other")], policy="skip")
        assert (replayed.ids, replayed.added) == ([], 0)
        assert bank.items() == []


@STORES
def test_the_rest_of_the_attempt_is_added_and_found_by_its_task(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, NAMESPACE, match="task")
        bank.add([attempt("a", task="cold winter night")], policy="skip")
        source = {"experience": "e", "digest": "d", "task": "red green blue"}
        written = bank.add([attempt("b1", **source), attempt("b2", content="another", **source)], policy="skip")
        assert (written.ids, written.added) == (["b2"], 1)
        assert [memory.item.id for memory in bank.search("red green grey")] == ["b2"]


def test_what_differs_in_outcome_tags_or_validity_is_not_the_same():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    bank.add([attempt("a", valid_until=utc_now() + timedelta(days=1))], policy="skip")
    bank.add([attempt("b")], policy="skip")
    bank.add([attempt("c", outcome="failure")], policy=LINK)
    bank.add([attempt("d", tags=("algebra",))], policy="skip")
    bank.add([attempt("e", tags=("algebra",))], policy="skip")
    assert in_use(bank) == ["a", "b", "c", "d"]
    assert bank.get("c").near == ""


def test_what_is_out_of_use_takes_no_ones_place():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    bank.add([attempt("a")])
    bank.set_status("a", "quarantined")
    bank.add([attempt("b")], policy="skip")
    assert in_use(bank) == ["b"]


@STORES
def test_a_near_copy_is_added_with_a_link_to_the_one_that_stands_for_all(kind, tmp_path):
    with open_store(kind, tmp_path / "bank") as store:
        bank = MemoryBank(store, NAMESPACE)
        bank.add([attempt("a")], policy=LINK)
        before = store.get(NAMESPACE, "a").value
        first = bank.add([attempt("b", content="convert at first")], policy=LINK)
        second = bank.add([attempt("c", content="convert everything at first")], policy=LINK)
        assert effects(first) == [("b", "linked", "a")]
        assert effects(second) == [("c", "linked", "a")]
        assert (first.added, bank.get("b").near, bank.get("c").near) == (1, "a", "a")
        assert store.get(NAMESPACE, "a").value == before
        other = bank.add([attempt("d", title="draw a picture", description="when lost")], policy=LINK)
        assert (other.treated, bank.get("d").near) == ([], "")


def test_a_link_is_exported_and_imported(tmp_path):
    bank, other = MemoryBank(indexed_memory(), NAMESPACE), MemoryBank(indexed_memory(), ("n",))
    bank.add([attempt("a")], policy=LINK)
    bank.add([attempt("b", content="convert at first")], policy=LINK)
    bank.export_jsonl(tmp_path / "bank.jsonl")
    other.import_jsonl(tmp_path / "bank.jsonl")
    assert other.get("b").near == "a"


def test_linking_needs_an_embedder_that_was_measured_or_a_figure():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    with pytest.raises(UnmeasuredEmbedderError, match="similarity="):
        bank.add([attempt("a")], policy="link")
    assert bank.items() == []
    with pytest.raises(ValueError, match="match='both'"):
        MemoryBank(InMemoryStore(), NAMESPACE, match="task").add([attempt("a")], policy="link")
    plain = MemoryBank(InMemoryStore(), NAMESPACE)
    for name in "ab":
        plain.add([attempt(name)], policy="link")
    assert in_use(plain) == ["a"]


def test_a_policy_of_ones_own_sees_what_is_like_the_lesson_and_decides():
    seen = []

    def first_of_its_kind(item, near):
        seen.append([(one.item.id, one.is_equal) for one in near])
        return Treatment("skip", near[0].item.id) if near else Treatment("add")

    bank, own = MemoryBank(indexed_memory(), NAMESPACE), Policy(copies=first_of_its_kind)
    bank.add([attempt("a")], policy=own)
    written = bank.add([attempt("b")], policy=own)
    assert effects(written) == [("b", "skipped", "a")]
    assert seen == [[], [("a", True)]]
    astray = Policy(copies=lambda _, near: Treatment("link", "nobody"))
    with pytest.raises(ValueError, match="nobody"):
        bank.add([attempt("c")], policy=astray)


def test_a_run_and_an_hour_bring_as_many_lessons_as_they_may():
    bank, policy = MemoryBank(indexed_memory(), NAMESPACE), Policy(copies="append", per_run=3, per_hour=4)
    run = Provenance(run_id="one")
    for name in "ab":
        both = [attempt(f"{name}{number}", experience=name, content=f"{name}{number}") for number in (1, 2)]
        written = bank.add([item.model_copy(update={"provenance": run}) for item in both], policy=policy)
    assert effects(written) == [("b2", "run_cap", None)]
    two = [attempt(f"c{number}", experience="c", content=f"c{number}") for number in (1, 2)]
    assert effects(bank.add(two, policy=policy)) == [("c2", "hour_cap", None)]
    assert effects(bank.add(two, policy=policy)) == []
    assert in_use(bank) == ["a1", "a2", "b1", "c1"]


def test_an_hour_later_there_is_room_again():
    bank, policy = MemoryBank(indexed_memory(), NAMESPACE), Policy(copies="append", per_hour=1)
    bank.add([attempt("a")], policy=policy)
    later = utc_now() + timedelta(minutes=61)
    assert bank.add([attempt("b", created_at=later)], policy=policy).added == 1


def test_a_full_bank_sets_the_least_useful_aside_first_copies_then_the_oldest():
    bank, policy = MemoryBank(indexed_memory(), NAMESPACE), Policy(similarity=0.8, capacity=5)
    for number in range(4):
        bank.add(
            [lesson(f"old{number}", f"task {number}", title=f"way {number} of {'abcd'[number] * 9}")], policy=policy
        )
    bank.add([attempt("root")], policy=policy)
    copy = bank.add([attempt("copy", content="convert at first")], policy=policy)
    assert effects(copy) == [("copy", "linked", "root"), ("old0", "evicted", None)]
    new = bank.add(
        [attempt("new", title="quite another", description="when all is new", content="look")], policy=policy
    )
    assert effects(new) == [("copy", "evicted", None)]
    assert in_use(bank) == ["old1", "old2", "old3", "root", "new"]
    assert bank.set_status("copy", "active") == ["copy"]


class Counting(Switched):
    """Counts the batches that write."""

    writes_made = 0

    def batch(self, ops):
        ops = list(ops)
        self.writes_made += any(isinstance(op, PutOp) for op in ops)
        return super().batch(ops)


def test_what_an_attempt_leaves_is_one_write_whatever_the_policy_does():
    store, policy = Counting(), Policy(similarity=0.8, capacity=5, per_run=9, per_hour=90)
    bank = MemoryBank(store, NAMESPACE)
    for number in range(9):
        bank.add([attempt(f"a{number}", content=f"way {number}", task=f"t{number}")], policy=policy)
    bank.add([attempt("b", content="way 8")], policy=policy)
    assert store.writes_made == 10


def test_forgetting_an_attempt_forgets_what_was_left_out_of_it():
    store = indexed_memory()
    bank = MemoryBank(store, NAMESPACE)
    bank.add([attempt("a")], policy="skip")
    kept = episode("e", thread="t2")
    mine = attempt("b", experience=kept.experience_id).model_copy(update={"provenance": kept.provenance})
    bank.add([mine], episodes=[kept], policy="skip")
    assert len(store.search(beside(NAMESPACE, LEFT_OUT))) == 1
    bank.forget(thread_id="t2")
    assert store.search(beside(NAMESPACE, LEFT_OUT)) == []
    assert bank.add([mine], policy="append").added == 1


def rows_of_the_ledger(bank):
    return [(change.kind, change.ids, change.before, change.after) for change in bank.log()]


def test_the_ledger_has_a_row_for_each_lesson_that_is_left_out_linked_or_evicted():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    for number in range(4):
        texts = {"title": "abcd"[number] * 9, "description": "efgh"[number] * 9}
        bank.add([lesson(f"old{number}", f"task {number}", **texts)])
    policy = Policy(similarity=0.8, capacity=5, per_run=1)
    bank.add([attempt("a")], policy=policy)
    two = [attempt(f"b{number}", experience="b", digest="b", content=f"convert at {number}") for number in range(2)]
    bank.add(two, policy=policy)
    bank.add([attempt("c")], policy=policy)
    active, gone = {"status": "active"}, {"status": "quarantined"}
    assert rows_of_the_ledger(bank)[4:] == [
        ("added", ("a",), None, active),
        ("linked", ("b0",), None, {**active, "near": "a"}),
        ("skipped", ("b1",), None, None),
        ("evicted", ("old0",), active, gone),
        ("skipped", ("c",), None, None),
    ]
    assert bank.verify_log().ok


def test_an_attempt_that_comes_again_leaves_no_row_in_the_ledger():
    bank = MemoryBank(indexed_memory(), NAMESPACE)
    for _ in range(2):
        bank.add([attempt("a")], policy="skip")
        bank.add([attempt("b")], policy="skip")
    assert [kind for kind, *_ in rows_of_the_ledger(bank)] == ["added", "skipped"]


def test_one_tenants_lesson_takes_no_place_of_anothers():
    store = indexed_memory()
    for user in ("u1", "u2", "u1"):
        MemoryBank(store, ("m", user)).add([attempt(f"of {user}")], policy="skip")
    assert [len(MemoryBank(store, ("m", user)).items()) for user in ("u1", "u2")] == [1, 1]
