"""Parts: devices, memories, appliances, and whole systems of them."""
