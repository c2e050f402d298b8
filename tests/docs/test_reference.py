"""The reference says what the code says."""

import pytest

from tests.docs.reference import FOLDER, PAGES, VARIABLES, environment, written


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_the_reference_is_what_the_code_says_now(page):
    assert (FOLDER / page).read_text(encoding="utf-8") == written(page), "run `make docs`"


def test_the_folder_holds_no_other_page():
    assert {path.name for path in FOLDER.iterdir()} == set(PAGES)


def test_every_environment_variable_that_the_package_reads_is_described():
    assert environment() - {"SYSTEMROOT", "LD_LIBRARY_PATH"} == set(VARIABLES)
