"""Cases that do not fit are refused."""

import sys

import pytest

from costmodel.measure.timing import _require_memory
from tests.costmodel.measure.measured import torch


def test_cases_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch(is_available=True))
    _require_memory(100.0)
    with pytest.raises(MemoryError):
        _require_memory(130.0)
