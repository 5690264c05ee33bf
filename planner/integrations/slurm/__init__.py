"""Slurm: GPU jobs are held, placed by a controller, and started with their circuits."""
