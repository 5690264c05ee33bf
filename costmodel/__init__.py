"""Analytical performance and energy model of accelerators, memories and fabrics."""
