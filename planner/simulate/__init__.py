"""Real demand replayed against policies and fabrics, event by event, on the same random numbers."""
