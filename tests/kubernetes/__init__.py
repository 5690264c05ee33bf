"""A real Kubernetes API server and scheduler around the planner."""
