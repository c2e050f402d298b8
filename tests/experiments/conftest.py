"""Pictures without pixels, for every test that does not look at them."""

import base64

import pytest

from reasoningbank_langgraph.experiments.report import plots

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def outline(figure):
    """Return a PNG of one dot, and behind it all that the picture says."""
    from matplotlib.text import Text

    words = [text.get_text() for text in figure.findobj(Text)]
    return DOT + "\n".join(words).encode()


@pytest.fixture(autouse=True, scope="module")
def unrendered(request):
    """Draw the figures, but do not render them, which takes a second for each report."""
    with pytest.MonkeyPatch.context() as patched:
        if not getattr(request.module, "RENDERED", False):
            patched.setattr(plots, "png", outline)
        yield
