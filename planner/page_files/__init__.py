"""Files about pages of tensors: what is asked, and what was decided."""
