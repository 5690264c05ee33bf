"""Fabrics of wavelengths on fibers between tiles: routing and wavelength assignment."""
