"""From one plan to the next: failures, repair, reconfiguration."""
