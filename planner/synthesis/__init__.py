"""Collectives synthesized for a network of a few ranks: flows by linear programs, schedules by CP-SAT, the best."""
