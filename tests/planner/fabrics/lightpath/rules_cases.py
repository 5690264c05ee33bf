"""Shared by the tests of `rule_fibers`, `rule_light`, `rule_path`, `rule_sharing` and `rules`."""

THERE = "s0.t1 s2.t0 0,1"
