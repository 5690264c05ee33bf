"""Memory outside the matrix units: tiers, what limits their bandwidth, and a tier that caches another."""
