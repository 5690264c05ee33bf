"""Serving of users: software that serves, closed loops of users, and kernels inside an engine."""
