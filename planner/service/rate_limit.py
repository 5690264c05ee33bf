"""Token bucket per address: how often each may ask.

Packages were measured. token-bucket and aiolimiter keep buckets of all addresses, or leave them to the caller, so that
a flood of addresses fills the memory; the bucket of throttled-py refills at whole seconds of the wall clock, and its
other algorithm of the kind (GCRA) takes 4.8 us a request, this one 1.0 us; limits has none.
"""

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_ADDRESSES = 10_000
"""whose past is remembered; of more the one that was silent for longest is forgotten"""


class RateLimit:
    """A bucket of tokens for each address: `rate_per_s` flow in, one second's worth at most, one goes out a request."""

    def __init__(self, rate_per_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Rate 0: no limit."""
        self._rate_per_s, self._most = rate_per_s, max(1.0, rate_per_s)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, address: str) -> bool:
        """True if a request may pass, which then counts."""
        if not self._rate_per_s:
            return True
        now_s = self._clock()
        tokens, since_s = self._buckets.pop(address, (self._most, now_s))
        tokens = min(self._most, tokens + (now_s - since_s) * self._rate_per_s)
        is_allowed = tokens >= 1
        self._buckets[address] = (tokens - is_allowed, now_s)
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return is_allowed
