"""The factory on one machine: its set-up, its Dagster services, and the demonstration."""
