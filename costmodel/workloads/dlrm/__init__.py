"""Recommendation models with embedding tables."""
