"""From one plan to the next: stages, objectives, pauses."""
