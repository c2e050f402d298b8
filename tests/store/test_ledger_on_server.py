"""Several writers of one bank on a server lose no row of its ledger, whatever order their writes come in."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from reasoningbank_langgraph import MemoryBank
from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.testing import HashEmbeddings
from tests.bank.test_forgetting import NAMESPACE, lesson

pytestmark = [pytest.mark.network, pytest.mark.slow]

WRITERS, EACH = 3, 12


def test_clients_that_write_at_once_lose_no_row_and_join_their_lines(server_port):
    with ExitStack() as stack:

        def connect():
            return ChromaStore.from_server(port=server_port, embeddings=HashEmbeddings(), collection="ledger")

        banks = [MemoryBank(stack.enter_context(connect()), NAMESPACE, actor=f"{number}") for number in range(WRITERS)]

        def write(bank):
            for number in range(EACH):
                bank.add([lesson(f"{bank.actor} {number}")])

        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(write, banks))
        changes = banks[0].log()
        assert sorted(change.ids[0] for change in changes) == sorted(item.id for item in banks[0].items())
        assert len(changes) == WRITERS * EACH
        assert banks[1].verify_log().ok
        banks[2].add([lesson("last")])
        report = banks[0].verify_log()
        assert (report.ok, report.rows, len(report.heads)) == (True, WRITERS * EACH + 1, 1)
