"""The report: one page that fetches nothing, shows hostile text as text, and works without scripts."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser

import pytest
import typer

from reasoningbank_langgraph.cli import app
from reasoningbank_langgraph.errors import ExperimentError, MissingDependencyError
from reasoningbank_langgraph.experiments.report import write_report
from reasoningbank_langgraph.experiments.report.page import REPRODUCE
from reasoningbank_langgraph.experiments.report.rendering import environment
from reasoningbank_langgraph.experiments.summary import Summary

from .fake_rows import config, needs_extra, row, rows

pytestmark = [pytest.mark.slow, needs_extra]

HOSTILE = [
    "<script>document.title='taken'</script>",
    "</pre></details></script><img src=//evil.invalid onerror=alert(1)>",
    "</style><link rel=stylesheet href=https://evil.invalid/x.css>",
    '"><svg onload=alert(1)>',
    "' autofocus onfocus='alert(1)",
    "<!-- --><base href=//evil.invalid>",
    "&lt;b&gt; &amp;#60; {{7*7}} ${1}",
    "a\x00b\x1b[2J\x7f\x85",
    "\u202eright to left\u2066 and \u200b hidden \ufeff",
    "]]><![CDATA[",
    "़" * 500,
]


class Seen(HTMLParser):
    """Collects tags, attributes and text, and checks that what opens is closed."""

    VOID = frozenset({"meta", "img", "source", "br", "link", "base"})

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.open, self.texts = [], [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def folder(path, given, settings=None, *, prompts=(), duplicates=()):
    (path / "config.json").write_text(json.dumps((settings or config()).to_json()))
    (path / "results.jsonl").write_text("".join(json.dumps(one.to_json()) + "\n" for one in given))
    (path / "prompts.jsonl").write_text("".join(json.dumps(one) + "\n" for one in prompts))
    (path / "duplicates.json").write_text(json.dumps(list(duplicates)))
    return path


def report(path):
    write_report(path)
    return (path / "report.html").read_text(encoding="utf-8")


def test_the_folder_gets_a_summary_pictures_and_a_page(tmp_path):
    summary = write_report(folder(tmp_path, rows({"baseline": 0.4, "memory": 0.7}, 60)))
    assert Summary.model_validate_json((tmp_path / "summary.json").read_bytes()) == summary
    assert (tmp_path / "accuracy.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    seen = Seen(page)
    assert seen.open == []
    assert "<h1>Memory gained on baseline: +" in page
    assert {"arms", "comparisons", "differences", "leaks", "judge", "settings", "notes"} <= {
        value for _, name, value in seen.attributes if name == "id"
    }


@pytest.mark.parametrize(
    ("origin", "says"),
    [
        (None, "model not recorded<"),
        (("small", "small"), "model small<"),
        (("small", "<i>"), "model small · judged and distilled by &lt;i&gt;<"),
    ],
)
def test_the_page_says_which_models_it_is_about(tmp_path, origin, says):
    folder(tmp_path, rows({"baseline": 0.4, "memory": 0.7}, 20))
    if origin:
        models = {"solver": origin[0], "critic": origin[1], "problems": "0f"}
        (tmp_path / "origin.json").write_text(json.dumps(models))
    assert says in report(tmp_path)


def test_writing_it_again_gives_the_same_page(tmp_path):
    folder(tmp_path, rows({"baseline": 0.4, "memory": 0.7}, 20))
    assert report(tmp_path) == report(tmp_path)


def test_the_page_fetches_nothing(tmp_path):
    page = report(folder(tmp_path, rows({"baseline": 0.4, "memory": 0.7}, 20)))
    for _, name, value in Seen(page).attributes:
        if name in ("src", "srcset", "href", "action", "data", "poster"):
            assert value.startswith(("data:image/png;base64,", "#"))
        assert not name.startswith("on")
    assert "@import" not in page
    assert "url(" not in page
    assert re.search(r"default-src 'none'; img-src data:; style-src 'sha256-[\w+/=]+'; script-src 'sha256-", page)


def told_rows(texts):
    """Rows in which every text is one of these."""
    for number, text in enumerate(texts):
        name = f"p{number}{text}"[:150]
        shared = {"problem": text, "reference": text, "answer": text, "reply": text, "id": name}
        failed = {"error": text, "sources": (text,)}
        yield row("baseline", right=number % 2 == 0, **shared)
        yield row("memory", right=number % 2 == 1, **shared, **failed, memory=text, prompt_hash="feed")


def told_page(path, texts):
    pairs = [{"train_id": one, "test_id": f"p0{one}", "text_similarity": 1, "embedding_similarity": 1} for one in texts]
    prompts = [{"hash": "feed", "messages": [["human", text] for text in texts]}]
    return report(folder(path, told_rows(texts), config(model=texts[0]), prompts=prompts, duplicates=pairs))


def test_hostile_text_stays_text(tmp_path):
    harmless = Seen(told_page(tmp_path, [f"text {number}" for number in range(len(HOSTILE))]))
    page = told_page(tmp_path, HOSTILE)
    seen = Seen(page)
    assert seen.open == []
    assert Counter(seen.tags) == Counter(harmless.tags)
    assert Counter(name for _, name, _ in seen.attributes) == Counter(name for _, name, _ in harmless.attributes)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ufeff]", page)
    text = "".join(seen.texts)
    for one in HOSTILE[:7]:
        assert one in text
    assert "a⟨U+0000⟩b⟨U+001B⟩[2J" in text
    assert "⟨U+202E⟩right to left⟨U+2066⟩" in text


def test_only_style_script_and_pictures_are_not_escaped():
    templates = [environment().loader.get_source(environment(), name)[0] for name in environment().list_templates()]
    unescaped = {name.strip() for text in templates for name in re.findall(r"{{([^}]*?)\|\s*safe", text)}
    assert unescaped == {"style", "script", "picture.dark|base64", "picture.light|base64"}
    assert not any("autoescape" in text for text in templates)


def test_a_missing_jinja_is_named_with_the_extra_that_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingDependencyError, match=r"jinja2 is not installed: .*\[experiments\]"):
        environment.__wrapped__()


def test_a_huge_text_is_cut_and_says_so(tmp_path):
    given = [row("baseline", "p0", False, reply="x" * 2_000_000), row("memory", "p0", True, problem="<" * 900_000)]
    page = report(folder(tmp_path, given))
    assert "(1,996,000 further characters are in texts.jsonl)" in page
    assert len(page) < 700_000


def test_a_difference_shows_problem_answer_replies_and_memory(tmp_path):
    given = [
        row("baseline", "p7", False, problem="Seven & more?", reference="7", answer="8", reply="It is eight."),
        row(
            "memory",
            "p7",
            True,
            problem="Seven & more?",
            reference="7",
            answer="7",
            reply="It is seven.",
            scores=(0.83,),
        ),
    ]
    page = report(folder(tmp_path, given))
    entry = page[page.index('class="entry fixed"') :]
    for told in (
        "p7",
        "Seven &amp; more?",
        "It is eight.",
        "It is seven.",
        "Convert units before adding",
        "t1",
        "0.83",
    ):
        assert told in entry
    assert 'class="entry broken"' not in page


def test_a_long_run_gives_a_page_of_bounded_size_that_says_what_it_left_out(tmp_path):
    chances = {"baseline": 0.4, "memory": 0.6, "filler": 0.45}
    given = rows(chances, 1700, reply="Because " * 400)
    page = report(folder(tmp_path, given, config(arms=("baseline", "memory", "filler"), limit=2000)))
    assert page.count('class="entry ') <= 120 + 12 + 12
    assert re.search(r"120 of [\d,]+ differences are shown; results.jsonl has all", page)
    assert len(page) < 3_000_000


def test_the_page_tells_how_to_run_it_again_and_what_was_sent(tmp_path):
    prompts = [{"hash": "0123456789abcdef", "messages": [["system", "Solve <it>."], ["human", "Problem 1"]]}]
    settings = config(seeds=(7,), temperature=0.5)
    page = report(folder(tmp_path, rows({"baseline": 0.5, "memory": 0.5}, 5, (7,)), settings, prompts=prompts))
    for told in (REPRODUCE, "&#34;temperature&#34;: 0.5", "Solve &lt;it&gt;.", "as it was sent"):
        assert told in page


def test_differences_without_the_flagged_problems_are_told_apart_from_none(tmp_path):
    given = rows({"baseline": 0.4, "memory": 0.7}, 6)
    assert "no problem left" not in report(folder(tmp_path, given))
    near = {"train_id": "t", "text_similarity": 1, "embedding_similarity": 1}
    flagged = [{**near, "test_id": f"p{number}"} for number in range(6)]
    assert "no problem left" in report(folder(tmp_path, given, duplicates=flagged))


def test_the_command_on_the_page_is_one_that_there_is():
    _, *names, option, _, out, _ = REPRODUCE.split()
    command = typer.main.get_command(app)
    for name in names:
        command = command.commands[name]
    assert {option, out} <= {flag for one in command.params for flag in one.opts}


def test_a_run_that_only_learned_so_far_has_a_page(tmp_path):
    page = report(folder(tmp_path, [row("learning", "t1", memory="", verdict="success")]))
    assert "There is nothing to compare yet." in page


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("config.json", None, "is no folder of a run"),
        ("config.json", "{", "is no JSON"),
        ("duplicates.json", "[", "is no JSON"),
        ("results.jsonl", None, "holds no results yet"),
        ("results.jsonl", '{"arm": 1}\n', "line 1"),
    ],
)
def test_a_folder_that_is_no_run_is_refused_by_name(tmp_path, name, content, told):
    folder(tmp_path, [row()])
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_text(content)
    with pytest.raises(ExperimentError, match=told):
        write_report(tmp_path)


CHROMIUM = shutil.which("chromium")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--virtual-time-budget=2000"),
    *("--enable-logging=stderr", "--dump-dom"),
]


def browse(page, profile):
    """The page as a browser sees it after its script ran, and what its console said."""
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", page], capture_output=True, text=True, timeout=300, check=True
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize(("hash", "shown"), [("", {"fixed", "broken"}), ("#broken", {"broken"}), ("#fixed", {"fixed"})])
def test_a_browser_filters_by_the_hash_without_a_word_in_its_console(tmp_path, hash, shown):
    folder(tmp_path, [*rows({"baseline": 0.5, "memory": 0.55}, 60), *told_rows(HOSTILE)])
    write_report(tmp_path)
    dom, console = browse(f"file://{tmp_path}/report.html{hash}", tmp_path / "profile")
    assert console == []
    entries = re.findall(r'<details class="entry (fixed|broken)"( hidden="")?', dom)
    assert {kind for kind, hidden in entries if not hidden} == shown
    assert {kind for kind, _ in entries} == {"fixed", "broken"}
    assert re.search(r"<output>\d+ of \d+ entries", dom)
    assert "<title>taken" not in dom


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_the_console_is_really_watched(tmp_path):
    folder(tmp_path, rows({"baseline": 0.5, "memory": 0.55}, 5))
    page = report(tmp_path).replace("<main>", '<main><img src="http://127.0.0.1:9/x.png"><script>alert(1)</script>')
    (tmp_path / "bad.html").write_text(page, encoding="utf-8")
    _, console = browse(f"file://{tmp_path}/bad.html", tmp_path / "profile")
    assert len(console) == 2
    assert all("Content Security Policy" in line for line in console)
