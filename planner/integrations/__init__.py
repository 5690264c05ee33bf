"""The planner inside other programs: schedulers, switches, export formats."""
