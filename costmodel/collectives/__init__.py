"""Best plans of collectives on a wavelength-switched fabric: chosen exactly, written out, proved and simulated."""
