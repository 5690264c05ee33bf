"""Servers whose accelerators divide optical ports between memory and network."""
