"""Studies over many solves: comparison, reproduction of papers, fragmentation, validation."""
