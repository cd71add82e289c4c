"""AI Factory: datasets, training runs and evaluations whose results can be traced to what made them."""
