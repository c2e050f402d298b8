"""What is done when the store cannot be reached: the run goes on without it and says so."""

from __future__ import annotations

import logging

from reasoningbank_langgraph.errors import StoreUnavailableError
from reasoningbank_langgraph.text import redact_secrets

logger = logging.getLogger(__name__)

_OUTAGES = {"OperationalError", "TransportError", "ConnectionError"}
"""How database drivers (PEP 249), HTTP clients and Redis name a connection that failed."""


def is_outage(error: Exception) -> bool:
    """Say whether a store could not be reached, unlike one that was reached and refused.

    An SQLite error is no outage: the file is on this machine, and the run can be resumed once it is repaired.
    """
    if isinstance(error, (StoreUnavailableError, ConnectionError, TimeoutError)):
        return True
    return any(kind.__name__ in _OUTAGES and kind.__module__ != "sqlite3" for kind in type(error).__mro__)


def log_outage(node: str, error: Exception) -> str:
    """Log an outage and return its text for the state, without secrets: an address may contain a password."""
    text = f"{node}: {type(error).__name__}: {redact_secrets(str(error)).text}"
    logger.warning("memory is unavailable, the run goes on without: %s", text)
    return text
