"""Plan slices, optical circuits and memory of photonic AI clusters."""
