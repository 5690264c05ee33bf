"""Training of convolutional and recurrent networks."""
