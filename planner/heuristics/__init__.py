"""Plans without a solver: greedy placement, ranks and circuits from counts, ruin and recreate."""
