"""Text of a bank stays text: whatever it says, a page has the elements that it has for plain words."""

import pytest

from reasoningbank_langgraph.records import has_visible_text
from reasoningbank_langgraph.text.visible import is_invisible, printable
from tests.data.fence_payloads import PAYLOADS
from tests.small_bank import lesson
from tests.view.visitor import Visitor, bank_with

WORDS = [text for text in PAYLOADS if has_visible_text(text[:200])]
BREAKOUTS = [
    "\"'><script>document.title='hostile'</script>",
    "</title></style></svg></textarea></pre><h1>x</h1>",
    "<svg onload=x><animate onbegin=x>",
    "{{ csrf }}{% include 'failed.html' %}",
    "<meta http-equiv=refresh content=0;url=//h.invalid>",
    "' autofocus onfocus=x a='",
    "<!--",
    "<![CDATA[",
    "&lt;b&gt;&#60;b&#62;",
]


def hostile(number, text):
    caps = {"title": 200, "description": 500, "content": 4000, "task": 2000}
    texts = {name: text[:cap] for name, cap in caps.items()}
    return lesson(number, **texts, tags=(text[:50],), scope=text[:50] or "x", difficulty=text[:50] or "x")


def plain(number):
    return hostile(number, "plain words")


def paths(number):
    return [("/entry", {"id": f"lesson-{number}"}), ("/forget", {"id": f"lesson-{number}"})]


@pytest.fixture(scope="module")
def ordinary():
    return Visitor(bank_with(plain(0)))


def test_no_text_of_a_lesson_makes_or_breaks_an_element(ordinary):
    texts = [*BREAKOUTS, *WORDS]
    visitor = Visitor(bank_with(*(hostile(number, text) for number, text in enumerate(texts))))
    wanted = [ordinary.page(path, **query).elements for path, query in paths(0)]
    for number, text in enumerate(texts):
        documents = [visitor.page(path, **query) for path, query in paths(number)]
        assert [document.elements for document in documents] == wanted, ascii(text[:80])
        assert not [char for char in documents[0].text if is_invisible(char) and char not in "\n\u200c\u200d"]


@pytest.mark.parametrize("text", [*BREAKOUTS, "a\u202eb\u200bc"])
def test_what_a_visitor_types_stays_text_too(ordinary, text):
    for path, field in (("/", "words"), ("/search", "task"), ("/", "status")):
        asked, harmless = (
            [tag for tag, _ in ordinary.page(path, **{field: given}).elements]
            for given in (text, "plain words of others")
        )
        assert set(asked) <= set(harmless)
        assert [asked.count(tag) for tag in ("h1", "title", "form", "textarea")] == [
            harmless.count(tag) for tag in ("h1", "title", "form", "textarea")
        ]
    assert printable(text) in ordinary.page("/search", task=text).text
    assert text[0] in ordinary.page("/entry", 404, id=text).text


@pytest.mark.parametrize("text", [*BREAKOUTS, "</bdi></li></ol>"])
def test_a_hostile_reason_stays_text_in_the_ledger_and_in_the_life_of_a_lesson(text):
    shapes = []
    for reason in (text, "plain words"):
        bank = bank_with(plain(0))
        bank.set_status("lesson-0", "quarantined", reason=reason)
        visitor = Visitor(bank)
        pages = [visitor.page("/ledger"), visitor.page("/entry", id="lesson-0"), visitor.page("/worth")]
        assert reason in pages[0].text
        shapes.append([document.elements for document in pages])
    assert shapes[0] == shapes[1]
