"""Times of single kernels from shapes, peaks and a few fitted efficiencies; one family a file."""
