"""Pooled memory over photonic I/O."""
