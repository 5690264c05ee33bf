"""Optical switches that run SONiC, over RESTCONF: the node tree `sonic-ocs` of revision 2024-11-21."""
