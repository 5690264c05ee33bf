"""Page placement as a model of the three streams: variables, constraints, a relaxation, and the search."""
