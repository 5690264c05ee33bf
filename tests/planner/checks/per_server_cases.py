"""Shared by the tests of `per_server` and `residents`."""

EVEN = {"constraints": {"per_server": 2}}
