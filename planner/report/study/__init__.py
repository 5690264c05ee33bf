"""What pages of studies share: runs under several conditions, measures with intervals, differences and fronts."""
