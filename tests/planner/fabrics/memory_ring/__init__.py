"""Memory nodes that devices share."""
