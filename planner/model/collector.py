"""Python's collector of cycles rests where millions of objects without cycles are made: it would visit them all."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

FEW, MOST_UNSEEN = 10_000, 250_000
"""new objects that are soon visited; and those that may become old unvisited, before all objects are visited at once,
so that garbage among them stays small"""
MOST_UNSEEN_SHARE = 0.5
"""of all old objects, that may be unvisited where that are more: a visit of all is then paid by as many new ones"""


class _Kept:
    """What this process knows of its objects, beside the collector."""

    is_for_good: bool | None = None
    """whether some are kept from the collector for good; None where nobody has asked the collector yet"""
    num_unseen = 0
    """objects that became old unvisited, since the last collection here"""


@contextmanager
def resting_collector() -> Iterator[None]:
    """No collection inside, if any was to be done. If many objects were made inside, they count as old afterwards: they
    are visited when all that is old is, not at once."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            _age(gc.get_count()[0])
            gc.enable()


def keep_for_good() -> None:
    """Nothing that there is now is visited again: what a service has loaded lives as long as it does."""
    gc.freeze()
    _Kept.is_for_good = True


def _age(num_new: int) -> None:
    """New objects count as old; never where somebody keeps some for good, which would be kept no longer. The collector
    is asked for these once: that takes as long as they are many."""
    if not FEW <= num_new <= MOST_UNSEEN:
        return
    if _Kept.is_for_good is None:
        _Kept.is_for_good = gc.get_freeze_count() > 0
    if _Kept.is_for_good:
        return
    _Kept.num_unseen += num_new
    if _Kept.num_unseen > MOST_UNSEEN and _Kept.num_unseen > MOST_UNSEEN_SHARE * len(gc.get_objects(2)):
        _Kept.num_unseen = 0
        gc.collect()
        return
    gc.freeze()
    gc.unfreeze()
