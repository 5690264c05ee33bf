"""CP-SAT models: step 1 chooses configurations and counts, step 2 ranks, fibers and wavelengths."""
