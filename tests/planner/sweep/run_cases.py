"""Shared by the tests of `processes`, `run` and `store`."""

KEYS = {cell: f"key{cell}" for cell in range(6)}


SEEDS = 3
"""of commands on Ray"""
