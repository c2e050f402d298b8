"""What only SQLite and Postgres have: rows of one time, statements to be killed between, loops, lost connections."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.bank.item_values import put
from tests.killed import found_by
from tests.postgres import database, postgres, require_pgvector  # noqa: F401 - with fixtures
from tests.store.any_store import app, ids, lesson, opened, opened_asynchronously, thread

KINDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)]
HERE = ("here",)


@pytest.mark.parametrize("kind", KINDS)
def test_a_bank_is_read_whole_however_many_of_its_rows_were_written_at_one_time(kind, request, tmp_path):
    lessons = [lesson(f"{number:04}", f"task {number}") for number in range(1200)]
    puts = [put(one, HERE, "lesson", carries_task_vector=False)._replace(index=False) for one in lessons]
    with opened(kind, request, tmp_path) as store:
        for some in (puts[:900], puts[900:], puts[100:500]):
            store.batch(some)
        assert ids(MemoryBank(store, HERE).items()) == ids(lessons)


@pytest.mark.parametrize("kind", KINDS)
async def test_stores_that_belong_to_one_event_loop_do_the_same(kind, request, tmp_path):
    async with opened_asynchronously(kind, request, tmp_path) as store:
        graph = app(store, HERE)
        first = await graph.ainvoke({"task": "measure a rope"}, thread("a"))
        again = await graph.ainvoke({"task": "measure a long rope"}, thread("b"))
        bank = MemoryBank(store, HERE)
        assert {memory["item"]["id"] for memory in again["memories"]} == set(first["written"])
        (first_found, *_) = await bank.asearch("measure a longer rope")
        assert (first_found.score is None) == (kind == "sqlite")
        assert set(await bank.aforget(thread_id="a")) == {*first["written"], *again["written"]}
        assert (await bank.averify_log()).ok


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_killed_after_any_statement_of_a_write_an_attempt_is_there_whole_or_not_at_all(kind, request, tmp_path):
    url = []
    if kind == "postgres":
        url = [request.getfixturevalue("postgres")]
        require_pgvector(*url)
    found = found_by("any_store_crash_child", kind, tmp_path, *url)
    *inside, after = [life["counts"] for life in found.values()]
    assert len(inside) == {"sqlite": 1, "postgres": 2}[kind]
    assert inside == [[[3, 1, 1], [3, 1, 1], [6, 2, 2]]] * len(inside)
    assert after == [[6, 2, 2]] * 3
    assert all(life["whole"] for life in found.values())


@pytest.mark.slow
def test_with_a_pool_a_lost_connection_costs_one_run_its_memory_and_nothing_is_lost(database):  # noqa: F811
    import psycopg
    from langgraph.store.postgres import PostgresStore

    with PostgresStore.from_conn_string(database, pool_config={"min_size": 1, "max_size": 2}) as store:
        store.setup()
        graph = app(store, "m")
        graph.invoke({"task": "measure a rope"}, thread())
        with psycopg.connect(database, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        lost, found = (graph.invoke({"task": task}, thread()) for task in ("measure a long rope", "bake a cake"))
        assert (lost["answer"], lost["memories"]) == ("the answer to measure a long rope", [])
        assert "OperationalError" in lost["memory_error"]
        assert (found["memory_error"], found["unwritten"]) == (None, [])
        assert [episode.task for episode in MemoryBank(store, "m").episodes()] == [
            "measure a rope",
            "measure a long rope",
            "bake a cake",
        ]


@pytest.mark.slow
def test_writers_with_connections_of_their_own_write_each_attempt_once_and_lose_no_row(database):  # noqa: F811
    from langgraph.store.postgres import PostgresStore

    def write(store):
        for number in range(8):
            MemoryBank(store, HERE).add([lesson(f"{number}", f"task {number}")])
            MemoryBank(store, HERE).add([lesson(f"{number} {id(store)}", f"task {number}")])

    with ExitStack() as stack:
        stores = [stack.enter_context(PostgresStore.from_conn_string(database)) for _ in range(3)]
        stores[0].setup()
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(write, stores))
        bank = MemoryBank(stores[0], HERE)
        assert len(bank.items()) == 8 + 3 * 8
        assert {name for change in bank.log() for name in change.ids} == set(ids(bank.items()))
        assert bank.verify_log().ok
