"""How many jobs a fabric refuses because its free devices do not fit together."""
