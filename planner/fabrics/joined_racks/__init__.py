"""What fabrics whose racks are joined share beyond placement: what is short, what more links would give, drawings."""
