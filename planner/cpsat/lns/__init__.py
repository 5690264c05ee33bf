"""Large neighbourhood search (LNS): a few servers of a large cluster at a time are planned anew."""
