"""The whole controller in one process on a clock of its own: `python -m tests.simulation --seeds 300`."""
