"""What files hold: instances, clusters, plans, results, and how they are read."""
