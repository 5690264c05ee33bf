"""Commands print as into a file: workers of pytest-xdist would give them the width of a terminal."""

import os


def pytest_sessionstart() -> None:
    os.environ.pop("COLUMNS", None)
