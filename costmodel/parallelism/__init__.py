"""How a job is divided over accelerators: mappings, degrees, groups of ranks."""
