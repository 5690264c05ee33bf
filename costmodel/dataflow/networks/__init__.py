"""Networks as graphs of layers, and a training step of them as operators and tensors with lifetimes."""
