"""Plans: what is asked for becomes a frozen spec and its context. Nothing here looks at a cluster."""
