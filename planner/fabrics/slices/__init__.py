"""Tori and SiPAC: jobs take slices of a fixed shape."""
