"""The vocabulary of the CP-SAT models: literals, integers, terms, solver settings."""
