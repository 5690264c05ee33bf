"""Training and inference of transformers."""
