"""One call to Chroma: repeated for a while when its server cannot be reached, its errors turned into this package's.

Repeating is safe for everything a store does: rows are written and removed by id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from reasoningbank_langgraph.errors import StoreCorruptedError, StoreError, StoreUnavailableError

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds after which a call to a server that does not answer is no longer repeated."""
CONNECT_WITHIN, ANSWER_WITHIN = 5.0, 60.0
"""Seconds a server has to take a connection, and to send the next bytes of an answer; Chroma's client has no limit."""
BUSY = frozenset({429, 502, 503, 504})
READINGS = 5
"""How often a read on a server is made before what it finds missing is taken for damage."""


def call_chroma(call: Callable[[], T], refusal: type[StoreError] = StoreCorruptedError) -> T:
    """Make one call to Chroma and return its answer.

    Args:
        call: does the same when it is made again.
        refusal: what to raise when Chroma refuses; for reads `StoreCorruptedError`, which `rebuild_index()` can mend.

    Raises:
        StoreUnavailableError: the server was not reached or was busy, through ten seconds of retries.
        StoreError: Chroma refused the call.
    """
    import httpx
    from chromadb.errors import ChromaError
    from tenacity import RetryError, Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

    wait = wait_random_exponential(multiplier=0.1, max=2, min=0.05)
    retrying = Retrying(retry=retry_if_exception(_is_transient), wait=wait, stop=stop_after_delay(PATIENCE))
    try:
        return retrying(call)
    except RetryError as error:
        last = error.last_attempt.exception()
        tries = error.last_attempt.attempt_number
        raise StoreUnavailableError(
            f"the Chroma server{_address(last)} does not answer, tried {tries} times: {_answer_text(last)}"
        ) from last
    except httpx.HTTPStatusError as error:
        raise StoreUnavailableError(f"the server{_address(error)} answered {_answer_text(error)}") from error
    except ChromaError as error:
        if "disk is full" in str(error):
            raise StoreError(
                f"Chroma answered {type(error).__name__}: {error}; make room and open the bank again"
            ) from error
        hint = "; rebuild_index() makes the index anew" if refusal is StoreCorruptedError else ""
        raise refusal(f"Chroma answered {type(error).__name__}: {error}{hint}") from error
    except Exception as error:
        answer = _status_error(error)
        if answer is None:
            raise
        raise refusal(f"the Chroma server{_address(error)} answered {_answer_text(error)}") from error


def read_beside_writers(read: Callable[[], T]) -> T:
    """Read from a server that other clients write to: a row they remove between two steps of a read is no damage.

    Args:
        read: the whole read, from its first step on.

    Raises:
        StoreCorruptedError: the fifth read, too, lacks a row or vector.
    """
    from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random

    pause = wait_random(min=0.02, max=0.2)
    return Retrying(
        retry=retry_if_exception(_lacks_a_row), wait=pause, stop=stop_after_attempt(READINGS), reraise=True
    )(read)


def _lacks_a_row(error: BaseException) -> bool:
    """Say whether a row was missing that a step before had found."""
    cause = error.__cause__
    return isinstance(error, StoreCorruptedError) and (cause is None or "Error finding id" in str(cause))


def _is_transient(error: BaseException) -> bool:
    """Say whether a later try may succeed."""
    import httpx
    from chromadb.errors import RateLimitError

    if isinstance(error, (httpx.TransportError, RateLimitError)):
        return True
    answer = _status_error(error)
    return answer is not None and answer.response.status_code in BUSY


def _status_error(error: BaseException | None) -> httpx.HTTPStatusError | None:
    """Return the HTTP answer behind an error; Chroma's client hides those it has no class for in a bare Exception."""
    import httpx

    if type(error) is Exception:  # not a subclass: those may have been raised while an error of the user was handled
        error = error.__context__
    return error if isinstance(error, httpx.HTTPStatusError) else None


def _address(error: BaseException | None) -> str:
    import httpx

    request = _status_error(error) or error
    if not isinstance(request, (httpx.RequestError, httpx.HTTPStatusError)):
        return ""
    try:
        url = request.request.url
    except RuntimeError:  # httpx knows no request for this error
        return ""
    return f" at {url.host}:{url.port or (443 if url.scheme == 'https' else 80)}"


def _answer_text(error: BaseException | None) -> str:
    answer = _status_error(error)
    if answer is not None:
        return f"HTTP {answer.response.status_code}: {answer.response.text[:200]}"
    return f"{type(error).__name__}: {error}"
