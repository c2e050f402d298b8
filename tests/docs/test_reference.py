"""The reference says what the code says."""

from typing import get_args

from langgraph.store.base import PutOp

from reasoningbank_langgraph import ChromaStore
from reasoningbank_langgraph.events import Event
from reasoningbank_langgraph.store.cache.saved_prefixes import ENDING, FROM_ITEMS
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.conftest import check_each, table_cells
from tests.docs.configuration import BANK_FILES, VARIABLES, environment
from tests.docs.reference import FOLDER, PAGES, written
from tests.docs.samples import samples
from tests.docs.source import markdown
from tests.docs.types import VALUES, meanings, values_of


@check_each(PAGES)
def test_each_page_of_the_reference_is_what_the_code_says_now(page):
    assert (FOLDER / page).read_text(encoding="utf-8") == written(page), "run `make docs`"


def test_the_folder_holds_no_other_page():
    assert {path.name for path in FOLDER.iterdir()} == set(PAGES)


def test_every_command_and_every_option_says_what_it_does():
    rows = table_cells(written("cli.md"))
    assert [option for option, text, _ in rows if not text] == []


@check_each(VALUES)
def test_every_value_of_a_type_is_explained_and_nothing_else(place):
    assert tuple(meanings(place)) == values_of(place)


def test_every_event_has_an_example():
    assert [kind for kind in get_args(Event) if f"## {kind.__name__}\n" not in written("events.md")] == []
    assert len(samples()) == len(get_args(Event))


def test_properties_and_class_methods_are_told_from_methods():
    page = written("api.md")
    assert "@property\ndef embeddings(" in page
    assert "@classmethod\ndef from_path(" in page


def test_the_arguments_of_a_class_that_is_made_by_a_function_are_not_shown():
    assert "class ChromaStore(BaseStore):\n```" in written("api.md")
    assert "class LocalModelServer:\n```" in written("modules.md")


def test_every_environment_variable_that_the_package_reads_is_described():
    assert environment() - {"SYSTEMROOT", "LD_LIBRARY_PATH"} == set(VARIABLES)


def test_the_folder_of_a_bank_holds_the_files_that_are_described(tmp_path):
    with ChromaStore.from_path(tmp_path, embeddings=HashEmbeddings(8)) as store:
        store.batch([PutOp(("a",), str(number), {"text": str(number)}) for number in range(FROM_ITEMS)])
        store.search(("a",), query="1")
    described = {name.strip("*") for names in BANK_FILES for name in names.split(", ")}
    found = {"a folder named by an id" if path.is_dir() else path.name for path in tmp_path.iterdir()}
    assert {ENDING if name.endswith(ENDING) else name for name in found} == described


def test_a_paragraph_behind_the_arguments_keeps_its_words():
    docstring = "Do it.\n\nArgs:\n    name: of the bank,\n        in full.\n\nA task without one is refused."
    assert markdown(docstring).splitlines()[-1] == "A task without one is refused."
