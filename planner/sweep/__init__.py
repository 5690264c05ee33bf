"""Runs of many independent cells: on processes or on Ray, each on disk as soon as it is finished."""
