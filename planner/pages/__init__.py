"""Pages of tensors over memories: the problem, rules that place them, improvement by simulation, and reasons."""
