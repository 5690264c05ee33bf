"""The manual: pages of text, and the hook that adds to them what is made from the code."""
