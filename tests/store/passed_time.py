"""Time that has passed as soon as somebody sleeps."""

import time


class PassedTime:
    """Stands in for the module `time` in cases and store: who sleeps finds that it has passed."""

    passed = 0.0

    def sleep(self, seconds):
        self.passed += seconds

    def monotonic(self):
        return time.monotonic() + self.passed

    def time_ns(self):
        return time.time_ns() + int(self.passed * 1e9)
