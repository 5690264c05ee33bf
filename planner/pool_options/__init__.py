"""Options of jobs on pools of memory: dominance, prices of what is pooled, the choice of the loop, and what lacks."""
