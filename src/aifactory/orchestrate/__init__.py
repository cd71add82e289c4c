"""Everything of the machinery that knows Dagster."""
