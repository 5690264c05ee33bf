"""Which port of which optical switch leads where, and what that makes of a plan."""
