"""When the store cannot be reached: the answer is worth more than the memory, so the run goes on and says so."""

from __future__ import annotations

import logging

from reasoningbank_langgraph.errors import StoreUnavailableError
from reasoningbank_langgraph.text import redact_secrets

logger = logging.getLogger(__name__)

_OUTAGES = {"OperationalError", "TransportError", "ConnectionError"}
"""How database drivers (PEP 249), HTTP clients and Redis name a connection that failed."""


def is_outage(error: Exception) -> bool:
    """Say whether a store was out of reach, in contrast to one that was reached and refused.

    An error of SQLite is none: the file is on this machine, and the run can be resumed when it is in order.
    """
    if isinstance(error, (StoreUnavailableError, ConnectionError, TimeoutError)):
        return True
    return any(kind.__name__ in _OUTAGES and kind.__module__ != "sqlite3" for kind in type(error).__mro__)


def log_outage(node: str, error: Exception) -> str:
    """Log an outage and return what the state keeps of it, without secrets: an address may hold a password."""
    text = f"{node}: {type(error).__name__}: {redact_secrets(str(error)).text}"
    logger.warning("memory is unavailable, the run goes on without: %s", text)
    return text
