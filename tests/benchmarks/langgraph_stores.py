"""Run the store contract on LangGraph's own stores, and write what they do not keep into docs/langgraph_stores.md.

python -m tests.benchmarks.langgraph_stores

A case that is known to fail and passes, or fails and is not known, ends it with pytest's report, and writes nothing.
It takes a Python whose sqlite3 loads extensions, as SqliteStore's vectors are one, and a Postgres with pgvector.
"""

import re
import sqlite3
import subprocess
import sys
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "langgraph_stores.md"
PLUGIN = "tests.benchmarks.langgraph_stores"
CASES = "tests/store/test_langgraph_stores.py"
CHECK = "test_the_page_lists_what_each_store_is_known_to_fail_and_nothing_else"
STORES = {"TestInMemory": "`InMemoryStore`", "TestSqlite": "`SqliteStore`", "TestPostgres": "`PostgresStore`"}
WAYS = {"plain", "indexed", "batch", "abatch", "tasks"}
"""Parameters that say how a rule was tried, not what it is about."""
HEAD = """# What LangGraph's own stores do differently

`reasoningbank_langgraph.testing.StoreContract` holds a LangGraph store to {rules} rules. `ChromaStore` keeps all of
them, however it is opened. The stores that come with LangGraph keep most. Here is the rest, with the public thread at
github.com/langchain-ai/langgraph where one was found.

Tried with langgraph-checkpoint {base}, langgraph-checkpoint-sqlite {sqlite} and langgraph-checkpoint-postgres
{postgres}: {cases} cases. This page is written by `python -m tests.benchmarks.langgraph_stores`, which fails as soon as
one of them changes. A bank does not depend on any of it: [Your own store](how-to/own-store.md).

| Store | Rules | Cases | What happens | Thread |
|---|---|---|---|---|
"""


rules, seen = set(), defaultdict(list)


def pytest_runtest_logreport(report):
    """As a plugin of pytest: keep which cases failed as expected, by store and reason."""
    if report.when == "call" and "::Test" in report.nodeid:
        store, case = report.nodeid.split("::", 2)[1:]
        rules.add(case.partition("[")[0])
        if hasattr(report, "wasxfail"):
            seen[store, report.wasxfail].append(case)


def pytest_sessionfinish(exitstatus):
    """As a plugin of pytest: write the page, if all went as expected."""
    if exitstatus == 0:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page(), encoding="utf-8")


def row(store, reason):
    """Return what the table says of a known failure, apart from the rules: the store, what happens, the thread."""
    thread, _, what = reason.partition(": ")
    links = re.sub(r"#(\d+)", r"[#\1](https://github.com/langchain-ai/langgraph/issues/\1)", thread)
    return STORES[store], what, links


def in_words(cases):
    """Return the rules of some cases, each once, with what it was tried on."""
    tried = defaultdict(dict)
    for case in cases:
        name, _, parameters = case.removesuffix("]").partition("[")
        rule = name.removeprefix("test_").replace("_", " ")
        tried[rule].update(dict.fromkeys(part for part in parameters.split("-") if part and part not in WAYS))
    return "; ".join(f"{rule} ({', '.join(on)})" if on else rule for rule, on in tried.items())


def page():
    """Return the page as Markdown, the commonest failures of each store first."""
    lines = []
    for (store, reason), cases in sorted(seen.items(), key=lambda entry: (entry[0][0], -len(entry[1]))):
        name, what, thread = row(store, reason)
        lines.append(f"| {name} | {in_words(cases)} | {len(cases)} | {what} | {thread} |\n")
    head = HEAD.format(
        rules=len(rules),
        base=version("langgraph-checkpoint"),
        sqlite=version("langgraph-checkpoint-sqlite"),
        postgres=version("langgraph-checkpoint-postgres"),
        cases=sum(map(len, seen.values())),
    )
    return head + "".join(lines)


def main():
    """Run pytest with this module as a plugin."""
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        sys.exit(
            f"{sys.executable} has an sqlite3 that cannot load extensions; run this with a Python that has another."
        )
    command = [sys.executable, "-m", "pytest", "-q", "-r", "fE", "-p", PLUGIN, "--deselect", f"{CASES}::{CHECK}", CASES]
    sys.exit(subprocess.run(command, cwd=REPOSITORY, check=False).returncode)


if __name__ == "__main__":
    main()
