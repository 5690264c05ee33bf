"""What the planner knows of each kind of fabric, one plug-in a fabric."""
