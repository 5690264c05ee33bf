"""Servers joined by packet switches: every part of a plug-in as the interface has it."""
