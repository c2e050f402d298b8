"""Compares how the work of a function grows with its input: shares of processor time, never seconds."""

import gc
import math
import statistics
import time

_TOO_SHORT = 0.004
"""Seconds of processor time below which a measurement is noise; a start this short is taken for this long."""


def repeated(unit, head="", tail=""):
    """Return a maker of texts of a wanted length: `head`, `unit` over and over, `tail`."""

    def make(size):
        return head + unit * ((size - len(head) - len(tail)) // len(unit)) + tail

    return make


def assert_linear(function, make_input, sizes=(50_000, 100_000, 200_000), *, doubling=2.8, tries=8):
    """Fail where doubling the input costs more than `doubling` times the work; 2 is linear, 4 quadratic.

    Every size is compared with the first, and a larger one is not tried where a smaller one has failed already, so
    work without bound fails soon. A size that seems to cost too much is measured again up to `tries` times, each time
    right after the first. It passes by the least of each, which a busy machine leaves alone, or by the median of the
    pairs, which a machine that slows down leaves alone.

    Args:
        function: what is measured, called with one argument. What it returns is not looked at.
        make_input: makes an input from a size, see `repeated`.
        sizes: from small to large.
        doubling: what twice the input may cost.
        tries: measurements of one size.
    """
    function(make_input(sizes[0] // 50))  # imports and caches
    first, *others = sizes
    for size in others:
        allowed = doubling ** math.log2(size / first)
        grown = _growth(function, make_input(first), make_input(size), allowed, tries)
        assert grown <= allowed, f"{size / first:g} times the input cost {grown:.1f} times the work, over {allowed:.1f}"


def _growth(function, small, large, allowed, tries):
    """Times the work that `large` costs; measured until it is no more than `allowed`, and `tries` times at most."""
    pairs = []
    for _ in range(tries):
        pairs.append((max(_seconds(function, small), _TOO_SHORT), _seconds(function, large)))
        least = min(after for _, after in pairs) / min(before for before, _ in pairs)
        if least <= allowed:
            return least
    return min(least, statistics.median(after / before for before, after in pairs))


def _seconds(function, given):
    gc.disable()
    try:
        started = time.process_time()
        function(given)
        return time.process_time() - started
    finally:
        gc.enable()
