"""Fixtures of the tests in this folder."""

from itertools import product

import pytest

from costmodel.dataflow.streams.timeline import Timeline
from tests.costmodel.dataflow.streams.memory_study_cases import NETWORKS, STUDY


@pytest.fixture(scope="module")
def ran() -> dict[tuple[str, str, str], Timeline]:
    keys = product(NETWORKS, ("data", "model"), STUDY.systems)
    return {key: STUDY.step(*key) for key in keys}  # type: ignore[arg-type]
