"""Light between the servers of a job: circuits it asks for, ways, rails and slices they may take, what is taken."""
