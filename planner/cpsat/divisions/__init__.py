"""Divisions of jobs over servers that are alike: which parts lie together, not on which server."""
