"""Images on this machine: copies of build inputs, what they hold, what makes one again, what pins and verifies them."""
