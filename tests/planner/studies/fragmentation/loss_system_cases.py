"""Shared by the tests of `kaufman_roberts`, `loss_system`, `statistics` and `study`."""

SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
UNIFORM = (1.0,) * len(SIZES)
