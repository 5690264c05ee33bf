"""The planner inside Kubernetes: an admission check of Kueue, and an extender of the scheduler."""
