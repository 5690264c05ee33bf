"""Python's collector of cycles rests where millions of objects without cycles are made: it would visit them all."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def resting_collector() -> Iterator[None]:
    """No collection inside, if any was to be done. What was made inside counts as old afterwards: it is visited when
    all that is old is, not at once."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            _age()
            gc.enable()


def _age() -> None:
    """All objects count as old, but where somebody keeps some from the collector for good."""
    if gc.get_freeze_count() == 0:
        gc.freeze()
        gc.unfreeze()
