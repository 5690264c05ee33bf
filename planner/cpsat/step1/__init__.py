"""Step 1, the master problem: configurations, and counts of blocks by server, which relax what else jobs hold."""
