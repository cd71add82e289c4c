"""Invented data for this lab's examples: nobody in it exists. In no image."""
