"""Sites: which tree a cluster mounts, what of the namespace is there, whole, and reading it ahead of a run."""
