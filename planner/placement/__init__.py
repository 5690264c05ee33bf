"""Where jobs lie, by number: free state, job classes, placement strategies."""
