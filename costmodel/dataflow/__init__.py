"""A step as a graph of tensors, simulated on streams."""
