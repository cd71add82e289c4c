"""The gate: facts are gathered, a pure function gives every reason not to launch, the answer is kept."""
