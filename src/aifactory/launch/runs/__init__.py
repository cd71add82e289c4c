"""Runs and their attempts on disk: names, the journal of attempts, the process of one, its log, its end."""
