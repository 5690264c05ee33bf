"""Optical circuit switches that are asked for their own tables, each in the protocol that it speaks."""
