"""A browser without scripts: gets pages with its cookie, reads their forms, and sees elements and text apart."""

from html.parser import HTMLParser

from starlette.testclient import TestClient

from reasoningbank_langgraph import Episode
from reasoningbank_langgraph.view import create_view
from tests import small_bank
from tests.small_bank import lesson

HOST = "127.0.0.1:8123"
TOKEN = "the-token-of-the-address"
_VOID = {"meta", "link", "input"}


def bank_with(*items):
    return small_bank.bank_with(*items, actor="view")


def taught(bank, number, shown=(), outcome="success"):
    """Add an attempt that was shown lessons, and the lesson it taught."""
    source = {"memory_ids_used": shown, "attempt_digest": f"digest-{number}", "judge": "reference"}
    common = {"experience_id": f"experience-{number}", "provenance": source}
    episode = Episode(
        id=f"attempt-{number}", task=f"task {number}", solution="2", outcome=outcome, shown=shown, **common
    )
    bank.add([lesson(number, **common)], episodes=[episode])


class Document(HTMLParser):
    """The elements of a page with the names of their attributes, its text, and its forms with their hidden fields."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.texts, self.forms, self.links = [], [], [], [], []
        self.feed(source)
        self.close()
        assert self.open == [], "every element is closed"

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.elements.append((tag, tuple(given)))
        if tag not in _VOID:
            self.open.append(tag)
        if tag == "form":
            self.forms.append((given["action"], {}))
        elif tag == "input" and given.get("type") == "hidden":
            self.forms[-1][1][given["name"]] = given["value"]
        elif tag == "a":
            self.links.append(given["href"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)

    def form(self, start):
        """Return the address and the hidden fields of the form whose address begins so."""
        return next(form for form in self.forms if form[0].startswith(start))


class Visitor:
    """Somebody who opened the address that was printed."""

    def __init__(self, bank):
        self.app = create_view(bank, token=TOKEN, hosts=[HOST])
        self.client = self.stranger()
        self.client.get("/enter", params={"token": TOKEN})

    def stranger(self, host=HOST):
        """Return a browser without a cookie."""
        return TestClient(self.app, base_url=f"http://{host}")

    def page(self, path, code=200, **query):
        answer = self.client.get(path, params=query or None)
        assert answer.status_code == code, answer.text
        return Document(answer.text)

    def send(self, form, **fields):
        """Send a form as a browser does; return the answer and not where it leads."""
        action, hidden = form
        return self.client.post(action, data={**hidden, **fields}, follow_redirects=False)
