"""What a configuration costs: operators, rooflines, candidates and their scores."""
