"""A training step on three kinds of streams: kernels, copies to and from other memories, collectives."""
