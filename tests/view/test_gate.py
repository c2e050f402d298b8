"""Who may look into a bank: one browser, once, under its own name, and no other site through it."""

import pytest
from starlette.testclient import TestClient

from reasoningbank_langgraph.view import create_view
from tests.small_bank import lesson
from tests.view.visitor import HOST, TOKEN, Visitor, bank_with


@pytest.fixture
def visitor():
    return Visitor(bank_with(lesson()))


@pytest.mark.parametrize("path", ["/", "/search?task=x", "/entry?id=lesson-0", "/style.css", "/enter", "/nothing"])
def test_without_the_cookie_nothing_is_shown(visitor, path):
    answer = visitor.stranger().get(path)
    assert (answer.status_code, "check unit" in answer.text) == (403, False)
    assert "start it again" in answer.text


def test_the_address_lets_in_one_browser_once_and_keeps_its_secret_out_of_the_next_address(visitor):
    again = visitor.stranger().get("/enter", params={"token": TOKEN})
    assert again.status_code == 403
    mine = visitor.client.get("/enter", params={"token": TOKEN}, follow_redirects=False)
    assert (mine.status_code, mine.headers["location"]) == (303, "/")
    assert visitor.client.get("/").status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], "é"])
def test_a_wrong_token_lets_nobody_in_and_uses_nothing_up(token):
    app = create_view(bank_with(), token=TOKEN, hosts=[HOST])
    for given, status in ((token, 403), (TOKEN, 200)):
        browser = TestClient(app, base_url=f"http://{HOST}")
        assert browser.get("/enter", params={"token": given}).status_code == status


def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites():
    visitor = Visitor(bank_with())
    cookie = visitor.client.cookies.jar._cookies
    (kept,) = [one for host in cookie.values() for path in host.values() for one in path.values()]
    assert kept.name == "reasoningbank_view_8123"
    assert kept.has_nonstandard_attr("HttpOnly")
    assert kept.get_nonstandard_attr("SameSite") == "strict"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8123", "127.0.0.1:8124", "localhost.evil.example:8123"])
def test_a_name_that_leads_here_by_dns_is_refused_even_with_the_cookie(visitor, host):
    answer = visitor.client.get("/", headers={"host": host})
    assert (answer.status_code, "check unit" in answer.text) == (421, False)


def test_every_answer_forbids_scripts_frames_copies_and_other_sources(visitor):
    for path, status in (("/", 200), ("/entry?id=gone", 404), ("/style.css", 200)):
        answer = visitor.client.get(path)
        assert answer.status_code == status
        policy = answer.headers["content-security-policy"]
        assert policy.split("; ")[:2] == ["default-src 'none'", "style-src 'self'"]
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/status?id=lesson-0", "/forget?id=lesson-0", "/again"])
@pytest.mark.parametrize("csrf", [None, "", "guessed", "é"])
def test_a_form_of_another_site_changes_nothing(visitor, path, csrf):
    fields = {"status": "quarantined", "cascade": "yes", **({} if csrf is None else {"csrf": csrf})}
    assert visitor.client.post(path, data=fields).status_code == 403
    assert visitor.page("/entry", id="lesson-0").form("/status")


def test_a_form_that_is_too_large_is_not_read_to_its_end(visitor):
    _, hidden = visitor.page("/").form("/again")
    answer = visitor.client.post("/again", data={**hidden, "reason": "x" * 100_000})
    assert answer.status_code == 403


def test_what_changes_something_is_no_link(visitor):
    for path in ("/status?id=lesson-0", "/again"):
        assert visitor.client.get(path).status_code == 405
    assert HOST in str(visitor.client.base_url)
