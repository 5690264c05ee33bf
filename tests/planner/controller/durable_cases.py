"""Shared by the tests of `durable`."""

from planner.controller import Controller


def full(controller: Controller, *, is_full: bool) -> None:
    """The disk has no room for another page, or much."""
    database = controller._durable.journal._db
    pages = database.execute("PRAGMA page_count").fetchone()[0]
    database.execute(f"PRAGMA max_page_count={pages if is_full else 10**6}")
