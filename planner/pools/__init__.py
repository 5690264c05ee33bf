"""What jobs hold of pools of memory units over light: units, ports of trays, rails and uplinks."""
