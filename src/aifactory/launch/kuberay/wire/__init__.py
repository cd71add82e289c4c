"""What the client of one API server is made of: tokens, errors, patience, watches, commands in pods."""
