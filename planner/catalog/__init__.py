"""Data of the planner, each with its source."""
