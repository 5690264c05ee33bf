"""Published experiments, computed anew: `instances/published/<paper>/<experiment>.yaml` against the cost model."""
