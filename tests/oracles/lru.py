"""A least-recently-used cache, page by page."""

from collections import OrderedDict
from collections.abc import Iterable


def lru_hits(accesses: Iterable[int], capacity: int) -> list[bool]:
    """Whether each access finds its page."""
    cache: OrderedDict[int, None] = OrderedDict()
    hits = []
    for page in accesses:
        hits.append(page in cache)
        cache[page] = None
        cache.move_to_end(page)
        if len(cache) > capacity:
            cache.popitem(last=False)
    return hits
