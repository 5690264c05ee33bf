"""Collectives synthesized for any network of a few ranks: what it may do, bounds, schedules with times, their check."""
