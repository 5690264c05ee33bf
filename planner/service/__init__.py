"""The planner as an HTTP service: `planner serve`. Needs the extra `serve`."""
