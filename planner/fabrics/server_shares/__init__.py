"""Memory that the accelerators of a server share: parts by their number, of which jobs hold some."""
