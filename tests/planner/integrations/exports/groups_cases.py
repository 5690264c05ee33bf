"""Shared by the tests of `groups`."""

WITH_CIRCUITS = ("ring", "switched", "at_once", "exchange", "beyond", "grid", "shared", "loss")
