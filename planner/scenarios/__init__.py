"""Instances derived from an instance: what if, and what fails."""
