"""Models that only the reproduction of published figures asks for."""
