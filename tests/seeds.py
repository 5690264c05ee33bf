"""Seeds of random cases: as many as the time of all tests allows, and as many times more as one asks for."""

import os

TIMES = int(os.environ.get("PHOTONPLAN_SEEDS", "1"))
"""`PHOTONPLAN_SEEDS=10 pytest tests/planner/cpsat` runs ten times as many"""


def seeds(number: int, first: int = 0) -> range:
    return range(first, first + TIMES * number)
