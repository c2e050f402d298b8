"""A real Postgres for the tests: started once a run, reached through a socket file only, stopped at the end.

A test module imports the fixture it needs, `postgres` (the server) or `database` (an empty database for one test).
"""

import importlib.util
import itertools
from contextlib import ExitStack
from functools import cache

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
        url = running.enter_context(servers().private_postgres())
    except servers().ServerError as error:
        pytest.skip(str(error))
    config.add_cleanup(running.close)
    return url


@pytest.fixture
def database(postgres):
    """URL of an empty database for one test."""
    import psycopg

    name = f"test_{next(numbers)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
    return postgres.replace("/postgres?", f"/{name}?")
