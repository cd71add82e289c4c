"""Clusters: where a run can be sent, as `clusters.toml` says it; read without network."""
