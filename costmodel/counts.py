"""How many of a part there may be at most, in files and options alike."""

MOST_SERVERS = 4096
"""of one rack"""
MOST_FIBERS = 4096
"""from one server, or rack, to another"""
MOST_PARTS = 4096
"""of one kind in another, such as modules around an accelerator"""
