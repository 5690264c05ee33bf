"""Rails of optical circuit switches."""
