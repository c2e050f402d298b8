"""What can be seen and done on the page: what the bank says, and nothing else."""

import re

import pytest

from reasoningbank_langgraph.policies import Credit, Evidence, GroupCredit, Guard, Trial
from reasoningbank_langgraph.records import Provenance
from reasoningbank_langgraph.text import render_memories
from reasoningbank_langgraph.view.snapshot import ON_A_PAGE
from tests.small_bank import lesson
from tests.view.visitor import Visitor, bank_with, taught


@pytest.fixture
def bank():
    """One lesson, shown to an attempt that failed and to one that succeeded, each of which taught one."""
    bank = bank_with()
    taught(bank, 0)
    taught(bank, 1, shown=("lesson-0",), outcome="failure")
    taught(bank, 2, shown=("lesson-0", "lesson-1"))
    return bank


@pytest.fixture
def visitor(bank):
    return Visitor(bank)


def entries(document):
    return [link for link in document.links if link.startswith("/entry")]


def test_lessons_are_listed_newest_first_and_chosen_by_words_status_and_outcome(bank, visitor):
    assert entries(visitor.page("/")) == [f"/entry?id=lesson-{number}" for number in (2, 1, 0)]
    assert entries(visitor.page("/", words="UNIT 1 beside")) == ["/entry?id=lesson-1"]
    assert entries(visitor.page("/", outcome="success")) == []
    bank.set_status("lesson-1", "quarantined")
    visitor.send(visitor.page("/").form("/again"))
    assert entries(visitor.page("/", status="quarantined")) == ["/entry?id=lesson-1"]


def test_a_long_list_comes_in_pages_that_keep_what_was_asked(bank):
    for start in range(100, 100 + ON_A_PAGE, 5):
        bank.add([lesson(number, experience_id=f"x{start}") for number in range(start, start + 5)])
    visitor = Visitor(bank)
    first = visitor.page("/", outcome="failure")
    assert len(entries(first)) == ON_A_PAGE
    (following,) = [link for link in first.links if "page=2" in link]
    assert following == "/?page=2&outcome=failure"
    last = visitor.page("/", page=99)
    assert 0 < len(entries(last)) < ON_A_PAGE


def test_a_search_shows_what_the_agent_would_see_with_scores_and_reasons(bank, visitor):
    task = {"task": "measure length 7", "k": 2, "max_items": 4}
    found = bank.search(**task)
    document = visitor.page("/search", **task)
    assert [link.rpartition("=")[2] for link in entries(document)] == [memory.item.id for memory in found]
    for memory in found:
        assert f"{memory.score:.2f}" in document.text
        assert memory.why in document.text
    assert render_memories(found).splitlines()[0] in document.text
    assert entries(visitor.page("/search")) == []


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/", {"page": "0"}),
        ("/", {"page": "²"}),
        ("/search", {"task": "x", "k": "many"}),
        ("/search", {"task": "x", "min_score": "2"}),
        ("/search", {"task": "x", "min_score": "nan"}),
    ],
)
def test_a_number_that_makes_no_sense_is_named(visitor, path, query):
    assert "is a" in visitor.page(path, 400, **query).text


def test_a_lesson_tells_its_life_where_it_was_born_where_it_was_shown_and_what_it_did(visitor):
    text = visitor.page("/entry", id="lesson-0").text
    said = [
        "learned from task 0 judge reference",
        "shown to an attempt task 1 failure",
        "an attempt that saw it taught check unit 1",
        "shown to an attempt task 2 success",
    ]
    places = [text.index(one) for one in said]
    assert places == sorted(places)
    assert "It was shown to 2 judged attempts, of which 1 succeeded." in text


def test_a_lesson_has_its_lineage_drawn_with_a_link_for_each_box(visitor):
    document = visitor.page("/entry", id="lesson-1")
    assert {link.rpartition("=")[2] for link in entries(document)} >= {"lesson-0", "attempt-1", "lesson-2", "attempt-2"}
    assert [tag for tag, _ in document.elements].count("rect") == 6
    assert "shown to" in document.text


def test_an_attempt_has_a_page_too_and_what_never_was_has_none(visitor):
    text = visitor.page("/entry", id="attempt-1").text
    assert "task 1" in text
    assert "attempted and judged" in text
    assert "nothing in this bank is or was called" in visitor.page("/entry", 404, id="lesson-9").text
    visitor.page("/forget", 404, id="lesson-9")


@pytest.mark.parametrize(
    "path", ["/", "/search?task=x", "/map", "/worth", "/ledger", "/entry?id=lesson-1", "/forget?id=lesson-1"]
)
def test_each_page_is_for_the_keyboard_and_for_a_phone(visitor, path):
    source = visitor.client.get(path).text
    assert 'name="viewport" content="width=device-width, initial-scale=1"' in source
    assert visitor.page(path).links[0] == "#main"
    fields = re.findall(r'<(?:input(?! type="hidden")|select|textarea)', source)
    assert len(re.findall(r"<label[^>]*>[^<]+<(?:input|select|textarea)", source)) == len(fields)
    assert not re.search(r'tabindex="(?!0)', source), "nothing is left out of the order of the page"
    wide = re.findall(r"(.*)\n<svg width", source)
    assert all('class="drawing" tabindex="0"' in box for box in wide), "what is wide scrolls in a box of its own"


def test_a_lesson_is_set_in_quarantine_and_released_with_a_reason_in_the_ledger(bank, visitor):
    done = visitor.send(visitor.page("/entry", id="lesson-1").form("/status"), status="quarantined", reason="too old")
    assert (done.status_code, done.headers["location"]) == (303, "/entry?id=lesson-1")
    assert bank.get("lesson-1").status == "quarantined"
    document = visitor.page("/entry", id="lesson-1")
    assert "quarantined by view: too old" in document.text
    visitor.send(document.form("/status"), status="active")
    assert bank.get("lesson-1").status == "active"
    assert visitor.send(document.form("/status"), status="superseded").status_code == 400


def test_forgetting_removes_what_the_preview_showed_and_leaves_the_ledger(bank, visitor):
    preview = visitor.page("/forget", id="lesson-1")
    both, alone = [form for form in preview.forms if form[0].startswith("/forget")]
    assert "With all that came of it: 2 removed" in preview.text
    assert bank.forget("lesson-1", dry_run=True) == ["lesson-1", "lesson-2"]
    assert len(bank.items()) == 3
    done = visitor.send(both, reason="wrong")
    assert [item.id for item in bank.items()] == ["lesson-0"]
    left = visitor.page(done.headers["location"]).text
    assert "Not in the bank" in left
    assert "forgotten by view: wrong" in left
    assert "cascade" not in alone[1]


def test_a_preview_that_is_out_of_date_is_shown_again_and_nothing_is_forgotten(bank, visitor):
    form = visitor.page("/forget", id="lesson-1").form("/forget")
    taught(bank, 3, shown=("lesson-1",))
    done = visitor.send(form)
    assert (done.status_code, "With all that came of it: 3 removed" in done.text) == (409, True)
    assert len(bank.items()) == 4


def test_a_lesson_alone_is_forgotten_without_those_that_came_of_it(bank, visitor):
    _, alone = [form for form in visitor.page("/forget", id="lesson-1").forms if form[0].startswith("/forget")]
    visitor.send(alone)
    assert [item.id for item in bank.items()] == ["lesson-0", "lesson-2"]


def test_a_bank_is_read_once_however_many_pages_are_looked_at(bank, visitor, monkeypatch):
    read = []
    items = bank.items
    monkeypatch.setattr(bank, "items", lambda: read.append(1) or items())
    for path in ("/", "/?page=2", "/entry?id=lesson-1", "/search?task=x", "/forget?id=lesson-1"):
        visitor.page(path)
    assert read == [], "the visitor came by the list of lessons"
    taught(bank, 3)
    assert "check unit 3" in visitor.page("/entry", id="lesson-3").text
    assert read == [1]


def test_ids_with_any_sign_in_them_have_pages_and_can_be_changed():
    name = "../ü?&id=1#\u200b\u202e\"'<b>"
    bank = bank_with(lesson(0, id=name))
    visitor = Visitor(bank)
    (link,) = entries(visitor.page("/"))
    document = Visitor.page(visitor, link)
    visitor.send(document.form("/status"), status="quarantined")
    assert bank.get(name).status == "quarantined"


def test_the_ledger_is_listed_newest_first_by_kind_with_who_and_why(bank, visitor):
    bank.set_status("lesson-1", "quarantined", reason="too old")
    visitor.send(visitor.page("/").form("/again"))
    text = visitor.page("/ledger").text
    assert f"{len(bank.log())} changes" in text
    assert "by view, from status active to status quarantined: too old" in text
    document = visitor.page("/ledger", kind="quarantined")
    assert "1 changes" in document.text
    assert entries(document) == ["/entry?id=lesson-1"]


def test_worth_lists_what_pairs_say_of_each_lesson_and_when_something_was_decided(bank, visitor):
    for name, credit in (("lesson-0", Credit(4, 3, 0, 1)), ("lesson-1", Credit(9, 0, 8, 1))):
        source = Provenance(attempt_digest=f"of {name}")
        said = GroupCredit(ids=(name,), credit=credit, known_as="an attempt", provenance=source)
        bank.add([], evidence=Evidence(credit=said))
    guard = Guard(model="a <b>model</b>")
    bank.add([lesson(9)], evidence=Evidence(Trial(guard=guard, task_key="a task", test=0, right=True)))
    visitor.send(visitor.page("/").form("/again"))
    document = visitor.page("/worth")
    assert document.text.index("broke 8") < document.text.index("fixed 3")
    assert "Model a <b>model</b>: trying" in document.text
    assert "With memory 1 of 1 tasks solved" in document.text
    assert "says that it does harm" in document.text
    assert "2 lessons were compared" in document.text
    assert "No guard" in Visitor(bank_with()).page("/worth").text
