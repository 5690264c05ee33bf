"""Step 2, the subproblem: ranks, devices and circuits for the counts of step 1, or a proof that there are none."""
