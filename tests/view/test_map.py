"""The map of similarity: where lessons stand, which ones, and that nothing else is on it."""

import subprocess

import numpy as np
import pytest

from reasoningbank_langgraph import ChromaStore, MemoryBank
from reasoningbank_langgraph.testing import HashEmbeddings
from reasoningbank_langgraph.view import pages
from reasoningbank_langgraph.view.similarity import similarity_map
from tests.small_bank import NAMESPACE, lesson
from tests.view.test_hostile_text import BREAKOUTS, WORDS, hostile
from tests.view.test_served import BROWSER
from tests.view.visitor import Visitor, bank_with

TOPICS = ("parcel tracking late lost", "invoice address tax wrong")
OUTCOMES = ("success", "failure", "contrast")


def about(topic, number, **fields):
    given = {"title": f"{TOPICS[topic]} {number}", "outcome": OUTCOMES[number % 3], **fields}
    return lesson(10 * topic + number, description=TOPICS[topic], task=f"{TOPICS[topic]} case {number}", **given)


ABOUT = [about(topic, number) for topic in (0, 1) for number in range(5)]


@pytest.fixture(scope="module", params=[None, b"k" * 32], ids=["plain", "encrypted"])
def store(request, tmp_path_factory):
    if request.param:
        pytest.importorskip("cryptography")
    folder = tmp_path_factory.mktemp("map")
    with ChromaStore.from_path(folder, embeddings=HashEmbeddings(), encryption_key=request.param) as store:
        bank = MemoryBank(store, NAMESPACE)
        bank.add(ABOUT[:1])
        for item in ABOUT[1:]:
            bank.add([item])
        bank.set_status("lesson-3", "quarantined")
        MemoryBank(store, ("m", "bob")).add([about(0, 9)])
        MemoryBank(store, (*NAMESPACE, "below")).add([about(0, 8)])
        MemoryBank(store, ("m", "texts")).import_jsonl(hostile_file(folder))
        yield store


def hostile_file(folder):
    bank = bank_with()
    for number, text in enumerate([*WORDS[:30], *BREAKOUTS]):
        bank.add([hostile(number, text)])
    bank.export_jsonl(folder / "texts.jsonl")
    return folder / "texts.jsonl"


def dots(document):
    """Return the links to lessons with their classes."""
    return {link.rpartition("=")[2] for link in document.links if link.startswith("/entry")}


def test_each_lesson_has_the_vector_of_its_title_and_description_and_those_of_others_stay_away(store):
    bank = MemoryBank(store, NAMESPACE)
    vectors = bank.vectors([item.id for item in ABOUT])
    assert vectors.keys() == {item.id for item in ABOUT}
    wanted = HashEmbeddings().embed_query(f"{ABOUT[2].title}. {ABOUT[2].description}")
    assert np.allclose(vectors["lesson-2"], wanted, atol=1e-6)
    assert bank.vectors(["lesson-9", "lesson-8", "nothing"]) == {}
    assert MemoryBank(store, ("m", "bob")).vectors(["lesson-9", "lesson-2"]).keys() == {"lesson-9"}


def test_under_match_task_only_the_first_lesson_of_an_experience_has_a_vector(store):
    bank = MemoryBank(store, ("m", "of tasks"), match="task")
    bank.add([about(0, number, id=f"t{number}", experience_id="one") for number in (0, 1)])
    (vector,) = bank.vectors(["t0", "t1"]).values()
    assert np.allclose(vector, HashEmbeddings().embed_query(ABOUT[0].task), atol=1e-6)
    assert "1 have no vector of their own" in Visitor(bank).page("/map").text


def test_lessons_that_are_alike_stand_near_each_other(store):
    drawing = similarity_map(ABOUT, MemoryBank(store, NAMESPACE).vectors([item.id for item in ABOUT]))
    places = {dot.item.id: np.array([dot.x, dot.y]) for dot in drawing.dots}
    middles = [np.mean([places[f"lesson-{10 * topic + number}"] for number in range(5)], axis=0) for topic in (0, 1)]
    for name, place in places.items():
        own, other = (np.linalg.norm(place - middles[topic]) for topic in (len(name) > 8, len(name) <= 8))
        assert own < other
    assert 0 < drawing.share <= 1


def test_the_map_shows_each_lesson_as_a_link_with_its_outcome_and_whether_it_is_in_use(store):
    visitor = Visitor(MemoryBank(store, NAMESPACE))
    document = visitor.page("/map")
    assert dots(document) == {item.id for item in ABOUT}
    tags = [tag for tag, _ in document.elements]
    assert [tags.count(tag) for tag in ("circle", "rect")] == [4, 4]
    source = visitor.client.get("/map").text
    assert source.count('<a class="success') == 4
    assert source.count('<a class="success hollow"') == 1
    assert "parcel tracking late lost 3 success, quarantined" in document.text
    assert dots(visitor.page("/map", outcome="contrast", words="invoice")) == {"lesson-12"}
    assert "0 lessons" in visitor.page("/map", words="of nobody").text


def test_of_too_many_lessons_some_are_drawn_evenly_by_age_and_the_page_says_so(store, monkeypatch):
    monkeypatch.setattr(pages, "MOST", 4)
    document = Visitor(MemoryBank(store, NAMESPACE)).page("/map")
    assert "Of 10 lessons 4 are drawn" in document.text
    assert dots(document) == {"lesson-14", "lesson-11", "lesson-3", "lesson-0"}


def test_a_store_that_keeps_its_vectors_to_itself_has_no_map_and_the_page_says_so():
    bank = bank_with(lesson())
    assert bank.vectors(["lesson-0"]) == {}
    document = Visitor(bank).page("/map")
    assert "There is no map of these 1 lessons" in document.text
    assert "svg" not in [tag for tag, _ in document.elements]


def scattered(count, dims):
    drawn = np.random.default_rng(3).standard_normal((count, dims)) / np.arange(1, dims + 1) ** 0.5
    return [lesson(number) for number in range(count)], {f"lesson-{number}": drawn[number] for number in range(count)}


def test_the_two_directions_are_the_principal_ones_and_the_map_is_the_same_each_time():
    items, vectors = scattered(60, 200)
    drawing = similarity_map(items, vectors)
    assert similarity_map(items, vectors) == drawing
    assert similarity_map(items[::-1], vectors)[:3] == drawing[:3]
    centred = np.stack(list(vectors.values())) - np.mean(list(vectors.values()), axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    assert drawing.share == pytest.approx((sizes[:2] ** 2).sum() / (sizes**2).sum())
    for axis, places in ((0, [dot.x for dot in drawing.dots]), (1, [dot.y for dot in drawing.dots])):
        wanted = [left[int(dot.item.id[7:]), axis] for dot in drawing.dots]
        assert abs(np.corrcoef(places, wanted)[0, 1]) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(("count", "dims"), [(1, 8), (2, 1), (3, 2), (40, 3)])
def test_few_lessons_and_short_vectors_have_a_map_too(count, dims):
    drawing = similarity_map(*scattered(count, dims))
    assert len(drawing.dots) == count
    assert all(0 <= dot.x <= drawing.width and 0 <= dot.y <= drawing.height for dot in drawing.dots)


def test_titles_cover_neither_dots_nor_each_other_and_stay_in_the_drawing():
    items, vectors = scattered(150, 20)
    drawing = similarity_map(
        [item.model_copy(update={"title": f"単位 {item.title} 検査" * 2}) for item in items], vectors
    )
    assert len(drawing.labels) > 5
    for label in drawing.labels:
        assert 0 <= label.left <= drawing.width - label.width
        hidden = [dot for dot in drawing.dots if label.left < dot.x < label.left + label.width]
        assert all(abs(dot.y - label.y + 4) > 5 for dot in hidden)
    for one in drawing.labels:
        beside = [other for other in drawing.labels if one is not other and abs(other.y - one.y) < 10]
        assert all(other.left >= one.left + one.width or one.left >= other.left + other.width for other in beside)


def test_lessons_that_say_the_same_stand_in_one_place():
    items = [lesson(number) for number in range(3)]
    drawing = similarity_map(items, {item.id: np.ones(4) for item in items})
    assert {(dot.x, dot.y) for dot in drawing.dots} == {(drawing.width / 2, drawing.height / 2)}


def test_hostile_titles_are_text_on_the_map(store):
    document = Visitor(MemoryBank(store, ("m", "texts"))).page("/map")
    tags = [tag for tag, _ in document.elements]
    assert len(dots(document)) == len(WORDS[:30] + BREAKOUTS)
    assert [tags.count(tag) for tag in ("svg", "title", "h1", "script", "img", "animate")] == [1, 1, 1, 0, 0, 0]
    assert {names for tag, names in document.elements if tag == "circle"} <= {("class", "cx", "cy", "r")}
    assert all(text[:20] in document.text for text in BREAKOUTS)


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_in_a_browser_hostile_titles_on_the_map_run_nothing_and_load_nothing(store, tmp_path):
    (tmp_path / "map.html").write_text(Visitor(MemoryBank(store, ("m", "texts"))).client.get("/map").text)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'user'}", "--dump-dom"]
    address = (tmp_path / "map.html").as_uri()
    done = subprocess.run([BROWSER, *flags, address], capture_output=True, text=True, timeout=120, check=True)
    assert "<title>Map · m/texts</title>" in done.stdout
    assert done.stdout.count('class="dot"') == len(WORDS[:30] + BREAKOUTS)
    assert done.stdout.count("<svg") == done.stdout.count("<h1") == 1
