"""The pages make a site: no link is broken, and looking at it fetches nothing from elsewhere."""

import re
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

FETCHED = re.compile(r"""(?:src=|<link[^>]*href=|url\(|@import\s*)["']?(https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_every_page_is_built_and_every_link_leads_somewhere(site):
    pages = {path.relative_to(REPOSITORY / "docs").with_suffix(".html") for path in REPOSITORY.glob("docs/**/*.md")}
    assert pages == {path.relative_to(site) for path in site.rglob("*.html")} - {(site / "404.html").relative_to(site)}


@pytest.mark.slow
def test_a_browser_fetches_nothing_from_elsewhere(site):
    for path in [*site.rglob("*.html"), *site.rglob("*.css")]:
        assert not FETCHED.search(path.read_text(encoding="utf-8")), path
