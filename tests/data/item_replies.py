r"""Extractor replies and what is in them: `(name, reply, titles, reason, truncated, content)`.

`content` is the content of the first item, where the case is about it. A reply is a text, or parts of an AI message.
"""

# ruff: noqa: E501 - a case reads best on one line
from __future__ import annotations

import json
from typing import Any, NamedTuple


class Case(NamedTuple):
    name: str
    reply: Any
    titles: list[str]
    reason: str | None = None
    truncated: bool = False
    content: str | None = None


def item(title: str, content: str = "Do it.") -> dict[str, str]:
    return {"title": title, "description": "When it fits.", "content": content}


def listed(*titles: str) -> str:
    return json.dumps({"items": [item(title) for title in titles]})


def raw(content: str) -> str:
    """An item whose content is written into the JSON as it stands, backslashes and all."""
    return '{"items": [{"title": "A", "description": "D.", "content": "' + content + '"}]}'


def _call(args: Any) -> list[dict[str, Any]]:
    return [{"name": "save", "args": args, "id": "c1", "type": "tool_call"}]


PAPER = """# Memory Item 1
## Title Check units
## Description When units are mixed.
## Content Convert first.
Then add.

# Memory Item 2
## Title
Name unknowns
## Description
When a text is long.
## Content
Write them down.
"""

CASES = [
    # Forms
    Case("plain JSON", listed("A", "B"), ["A", "B"]),
    Case("in a fence", f"```json\n{listed('A')}\n```", ["A"]),
    Case("in prose", f"Here you go: {listed('A', 'B')} Good luck!", ["A", "B"]),
    Case("bare list", json.dumps([item("A"), item("B")]), ["A", "B"]),
    Case("single object", json.dumps(item("A")), ["A"]),
    Case("one object a line", "\n".join(json.dumps(item(title)) for title in "ABC"), ["A", "B", "C"]),
    Case("other list name", json.dumps({"memory_items": [item("A")]}), ["A"]),
    Case("numbered objects", json.dumps({"memory_item_1": item("A"), "memory_item_2": item("B")}), ["A", "B"]),
    Case("numbered objects in the list's place", json.dumps({"items": {"1": item("A"), "2": item("B")}}), ["A", "B"]),
    Case("one item for a list", json.dumps({"items": item("A")}), ["A"]),
    Case("paper's Markdown", PAPER, ["Check units", "Name unknowns"], content="Convert first.\nThen add."),
    Case("Markdown in a fence", f"```markdown\n{PAPER}```", ["Check units", "Name unknowns"]),
    Case("bold Markdown", "**Title:** A\n**Description:** D.\n**Content:** C.", ["A"], content="C."),
    Case("bold names in a list", "1. **Title**: A\n- **Description**: D.\n- **Content**: C.", ["A"], content="C."),
    Case("plain lines", "Title: A\nDescription: D.\nContent: use $x: y$.\nTitle: B\nDescription: E.\nContent: F.", ["A", "B"]),
    Case("title in the item line", "# Memory Item 1: A\n## Description\nD.\n## Content\nC.", ["A"]),
    Case("Markdown with LaTeX", "## Title A\n## Description D.\n## Content Use \\frac{a}{b} \\times c.", ["A"], content="Use \\frac{a}{b} \\times c."),
    Case("tool call", {"tool_calls": _call({"items": [item("A")]})}, ["A"]),
    Case("tool call of one item", {"tool_calls": _call(item("A"))}, ["A"]),
    Case("broken tool call", {"invalid": [{"name": "save", "args": listed("A")[:-1] + ",}", "id": "1", "error": "x"}]}, ["A"]),
    Case("content blocks", {"content": [{"type": "text", "text": listed("A")}]}, ["A"]),
    Case("thinking", f"<think>{listed('X')}</think>{listed('A')}", ["A"]),
    Case("reasoning field", {"extra": {"reasoning_content": listed("A")}, "finish": "stop"}, ["A"]),
    # Mistakes that are mended
    Case("trailing commas", '{"items": [{"title": "A", "description": "D.", "content": "C.",},]}', ["A"]),
    Case("single quotes", "{'items': [{'title': 'A', 'description': 'It's so.', 'content': 'C.'}]}", ["A"]),
    Case("smart quotes", "{“items”: [{“title”: “A”, “description”: “D.”, “content”: “C.”}]}", ["A"]),
    Case("smart quotes in a text", '{"items": [{"title": "A", "description": "D.", "content": "say “so”",}]}', ["A"], content="say “so”"),
    Case("missing comma", '{"items": [{"title": "A", "description": "D.", "content": "C."} {"title": "B", "description": "D.", "content": "C."}]}', ["A", "B"]),
    Case("other field names", '{"items": [{"name": "A", "when": "D.", "lesson": "C."}]}', ["A"], content="C."),
    Case("two names for one field", '{"items": [{"title": "A", "description": "D.", "lesson": "C.", "text": "T."}]}', [], "unparsed"),
    Case("own name before another", '{"items": [{"title": "A", "name": "N", "description": "D.", "content": "C.", "text": "T."}]}', ["A"], content="C."),
    # LaTeX and newlines
    Case("frac", raw(r"\frac{1}{2}"), ["A"], content=r"\frac{1}{2}"),
    Case("sqrt", raw(r"\sqrt{2}"), ["A"], content=r"\sqrt{2}"),
    Case("beta", raw(r"\beta and \bar x"), ["A"], content=r"\beta and \bar x"),
    Case("times and text", raw(r"2 \times 3 \text{ cm}"), ["A"], content=r"2 \times 3 \text{ cm}"),
    Case("theta to", raw(r"\theta \to 0"), ["A"], content=r"\theta \to 0"),
    Case("left right", raw(r"\left( x \right)"), ["A"], content=r"\left( x \right)"),
    Case("nu", raw(r"let \nu = 3"), ["A"], content=r"let \nu = 3"),
    Case("ne and neq", raw(r"x \ne 1, y \neq 2"), ["A"], content=r"x \ne 1, y \neq 2"),
    Case("notin", raw(r"x \notin S, y \not= z"), ["A"], content=r"x \notin S, y \not= z"),
    Case("newline and use", raw(r"first\nuse it"), ["A"], content="first\nuse it"),
    Case("newline and not", raw(r"first\nnot second"), ["A"], content="first\nnot second"),
    Case("newline after a sentence", raw(r"Let it be.\nu = 3 follows"), ["A"], content="Let it be.\nu = 3 follows"),
    Case("newline and number", raw(r"1. a\n2. b"), ["A"], content="1. a\n2. b"),
    Case("newline of a careful writer", raw(r"\\frac{1}{2}\nu = 3"), ["A"], content="\\frac{1}{2}\nu = 3"),
    Case("doubled already", raw(r"\\frac{1}{2} \\times 3"), ["A"], content=r"\frac{1}{2} \times 3"),
    Case("tab", raw(r"a\tb"), ["A"], content="a\tb"),
    Case("boxed", raw(r"\boxed{5}"), ["A"], content=r"\boxed{5}"),
    Case("forall", raw(r"\forall x"), ["A"], content=r"\forall x"),
    Case("underline is no code point", raw(r"\underline{x} \u00e9"), ["A"], content=r"\underline{x} é"),
    Case("tool call, decoded", {"tool_calls": _call({"items": [item("A", "\x0crac{1}{2} \times 3 \rho\nuse")]})}, ["A"], content="\\frac{1}{2} \\times 3 \\rho\nuse"),
    Case("tool call, careful", {"tool_calls": _call({"items": [item("A", "\\frac{1}{2}\nu = 3")]})}, ["A"], content="\\frac{1}{2}\nu = 3"),
    # Fields
    Case("blank title", '{"items": [{"title": " ", "description": "D.", "content": "C."}]}', [], "unparsed"),
    Case("invisible title", '{"items": [{"title": "\\u200b", "description": "D.", "content": "C."}]}', [], "unparsed"),
    Case("missing description", '{"items": [{"title": "A", "content": "C."}]}', [], "unparsed"),
    Case("number for a text", '{"items": [{"title": 7, "description": "D.", "content": "C."}]}', [], "unparsed"),
    Case("good beside bad", json.dumps({"items": ["x", None, 3, item("A"), {"title": "B"}, [item("C")]]}), ["A"]),
    Case("strings for items", '{"items": ["Check units", "Name unknowns"]}', [], "unparsed"),
    Case("stripped", '{"items": [{"title": " A ", "description": "D.", "content": "\\nC.\\n"}]}', ["A"], content="C."),
    # Echoes
    Case("blanks only", '{"items": [{"title": "...", "description": "...", "content": "..."}]}', [], "unparsed"),
    Case("type names", '{"items": [{"title": "string", "description": "string", "content": "string"}]}', [], "unparsed"),
    Case("our prompt's words", '{"items": [{"title": "a few words", "description": "one sentence: when to use it", "content": "one to three sentences: what to do"}]}', [], "unparsed"),
    Case("example, then items", '{"items": [{"title": "...", "description": "...", "content": "..."}]}\n' + listed("A"), ["A"]),
    Case("schema, then items", '{"properties": {"items": {"type": "array"}}}\n' + listed("A"), ["A"]),
    Case("Markdown blanks", "## Title <the title of the memory item>\n## Description <one sentence>\n## Content <text>", [], "unparsed"),
    # The first complete answer
    Case("a list, then another", f"{listed('A', 'B')}\nShorter:\n{listed('C')}", ["A", "B"]),
    Case("a list, then a quotation", f"{listed('A')}\nThe attempt held: {listed('X')}", ["A"]),
    Case("nothing, then a quotation", f'{{"items": []}}\nThe attempt held: {listed("X")}', [], "empty"),
    Case("a quotation, then a list", f"The attempt held: {listed('X')}, which I leave out.\n{listed('A')}", ["A"]),
    Case("a quotation alone", f"The attempt held {listed('X')}, so there is nothing to learn.", [], "unparsed"),
    Case("a quotation in a string", json.dumps({"items": [item("A", listed("X"))], "note": listed("Y")}), ["A"], content=listed("X")),
    Case("a quotation in a string, and no list", json.dumps({"note": listed("X")}), [], "unparsed"),
    Case("a quotation below the list", json.dumps({"items": "none", "quoted": {"items": [item("X")]}}), [], "unparsed"),
    Case("the list twice", listed("A")[:-1] + ", " + listed("X")[1:], ["A"]),
    Case("a field twice", '{"items": [{"title": "A", "description": "D.", "content": "C.", "content": "X."}]}', ["A"], content="C."),
    Case("Markdown in a string", '{"note": "\n# Memory Item 1\n## Title X\n## Description D\n## Content C\n"}', [], "unparsed"),
    Case("single items, then a quotation", f"{json.dumps(item('A'))}\n{json.dumps(item('B'))}\nIt said {json.dumps(item('X'))}", ["A", "B"]),
    Case("numbered single items", "\n".join(f"{n}. {json.dumps(item(t))}" for n, t in enumerate("AB", 1)), ["A", "B"]),
    Case("Markdown, then a quoted list", f"{PAPER}\nThe attempt held: {listed('X')}", ["Check units", "Name unknowns"]),
    Case("Markdown, then quoted Markdown", f"{PAPER}\nThe attempt held:\n# Memory Item 3\n## Title X\n## Description D\n## Content C", ["Check units", "Name unknowns"]),
    Case("Markdown counted from the start again", f"{PAPER}\n# Memory Item 1\n## Title X\n## Description D\n## Content C", ["Check units", "Name unknowns"]),
    Case("Markdown with one number for all", PAPER.replace("Item 2", "Item 1"), ["Check units", "Name unknowns"]),
    Case("two calls", {"tool_calls": _call({"items": [item("A")]}) + _call({"items": [item("X")]})}, ["A"]),
    Case("end of thinking in a quotation", f"Lessons: {listed('A')}\nIt wrote </think>\n{listed('X')}", ["A"]),
    Case("final channel in a quotation", f"Lessons: {listed('A')}\nIt wrote <|channel|>final<|message|>{listed('X')}", ["A"]),
    Case("quoted item in a cut list", '{"items": [{"title": "A", "description": "D.", "content": "it held {"title": "X", "description": "D.", "content": "C."} and', [], "truncated", True),
    # Truncation
    Case("list cut in an item", listed("A", "B", "C")[:-30], ["A", "B"], None, True),
    Case("list cut between items", listed("A", "B")[:-2], ["A", "B"], None, True),
    Case("cut in the first item", '{"items": [{"title": "A", "description": "D.", "cont', [], "truncated", True),
    Case("cut bare list", json.dumps([item("A"), item("B")])[:-10], ["A"], None, True),
    Case("cut Markdown", {"content": PAPER, "finish": "length"}, ["Check units"], None, True),
    Case("whole at length", {"content": listed("A") + "  \n", "finish": "length"}, ["A"]),
    Case("babble at length", {"content": listed("A") + " And so", "finish": "length"}, ["A"], None, True),
    Case("tool call cut", {"tool_calls": _call({"items": [item("A"), item("B", "Do")]}), "finish": "length"}, ["A"], None, True),
    Case("tool call cut in its only item", {"tool_calls": _call({"items": [item("A")]}), "finish": "length"}, [], "truncated", True),
    Case("broken tool call that is cut", {"invalid": [{"name": "save", "args": listed("A", "B")[:-30], "id": "1", "error": "x"}]}, ["A"], None, True),
    Case("a list, then a cut one that holds an item", f'{listed("A")}\nMore: {{"items": [{json.dumps(item("X"))}], "note": "th', ["A"], None, True),
    Case("list in backticks, then thinking without an end", f"`{listed('A')}`\n<think>More", ["A"], None, True),
    Case("thinking cut", f"<think>{listed('A')}", [], "truncated", True),
    Case("brace before a whole list", f"with {{x: 1 we get {listed('A')}", ["A"]),
    # Nothing
    Case("empty list", '{"items": []}', [], "empty"),
    Case("empty list in a tool call", {"tool_calls": _call({"items": []})}, [], "empty"),
    Case("null", '{"items": null}', [], "empty"),
    Case("empty", "", [], "empty"),
    Case("empty message", {"content": ""}, [], "empty"),
    Case("prose", "There is nothing special here.", [], "unparsed"),
    Case("refusal", "I'm sorry, I can't help with that.", [], "refused"),
    Case("content filter", {"content": listed("A"), "finish": "content_filter"}, [], "refused"),
    Case("no message", 12, [], "error"),
    Case("call without arguments", {"tool_calls": _call({})}, [], "unparsed"),
    # Whose words a lead-in, a tag or a verb of saying leads in
    Case("caption", f"Tips:\n{listed('A')}", ["A"]),
    Case("caption in German", f"Hier sind die Lektionen:\n{listed('A')}", ["A"]),
    Case("caption in Chinese", f"以下是经验：\n{listed('A')}", ["A"]),
    Case("quoted in German", f"Die Seite schreibt:\n{listed('A')}", [], "unparsed"),
    Case("quoted in Chinese", f"网页上写着：\n{listed('A')}", [], "unparsed"),
    Case("quoted in a tag", f"<page>\n{listed('A')}\n</page>", [], "unparsed"),
    Case("quoted Markdown in German", f"Die Seite schreibt:\n{PAPER}", [], "unparsed"),
    Case("quoted Markdown in a tag", f"<tool_output>\n{PAPER}", [], "unparsed"),
    Case("quoted Markdown after a verb", f"The tool printed\n\n{PAPER}", [], "unparsed"),
    Case("a lesson's text ends in a verb of saying", PAPER.replace("# Memory Item 2", "Skip what the tool printed\n# Memory Item 2"), ["Check units", "Name unknowns"]),
    Case("wrapper of the answer", json.dumps({"response": [item("A")]}), ["A"]),
    Case("wrapper of a message", json.dumps({"tool_output": [item("A")]}), [], "unparsed"),
]  # fmt: skip
