"""One call to Chroma: repeated for a while when its server cannot be reached, and what it raises named.

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
"""Seconds after which a call to a server that does not answer is not repeated any more."""
CONNECT_WITHIN, ANSWER_WITHIN = 5.0, 60.0
"""Seconds a server has to take a connection, and to send the next bytes of an answer; Chroma's client has no limit."""
BUSY = frozenset({429, 502, 503, 504})


def ask(call: Callable[[], T], refused: type[StoreError] = StoreCorruptedError) -> T:
    """Make one call to Chroma and return its answer.

    Args:
        call: does the same when it is made again.
        refused: what to raise when Chroma says no; for reads `StoreCorruptedError`, which `rebuild_index()` can mend.

    Raises:
        StoreUnavailableError: the server was not reached or was busy, also when asked again for ten seconds.
        StoreError: Chroma refused the call.
    """
    import httpx
    from chromadb.errors import ChromaError
    from tenacity import RetryError, Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

    wait = wait_random_exponential(multiplier=0.1, max=2, min=0.05)
    retrying = Retrying(retry=retry_if_exception(_passing), wait=wait, stop=stop_after_delay(PATIENCE))
    try:
        return retrying(call)
    except RetryError as error:
        last = error.last_attempt.exception()
        tries = error.last_attempt.attempt_number
        raise StoreUnavailableError(
            f"the Chroma server{_place(last)} does not answer, tried {tries} times: {_said(last)}"
        ) from last
    except httpx.HTTPStatusError as error:
        raise StoreUnavailableError(f"the server{_place(error)} answered {_said(error)}") from error
    except ChromaError as error:
        if "disk is full" in str(error):
            raise StoreError(
                f"Chroma answered {type(error).__name__}: {error}; make room and open the bank again"
            ) from error
        hint = "; rebuild_index() makes the index anew" if refused is StoreCorruptedError else ""
        raise refused(f"Chroma answered {type(error).__name__}: {error}{hint}") from error
    except Exception as error:
        answer = _status_error(error)
        if answer is None:
            raise
        raise refused(f"the Chroma server{_place(error)} answered {_said(error)}") from error


def _passing(error: BaseException) -> bool:
    """Say whether a later try may go well."""
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


def _place(error: BaseException | None) -> str:
    import httpx

    request = _status_error(error) or error
    if not isinstance(request, (httpx.RequestError, httpx.HTTPStatusError)):
        return ""
    try:
        url = request.request.url
    except RuntimeError:  # httpx knows no request for this error
        return ""
    return f" at {url.host}:{url.port or (443 if url.scheme == 'https' else 80)}"


def _said(error: BaseException | None) -> str:
    answer = _status_error(error)
    if answer is not None:
        return f"HTTP {answer.response.status_code}: {answer.response.text[:200]}"
    return f"{type(error).__name__}: {error}"
