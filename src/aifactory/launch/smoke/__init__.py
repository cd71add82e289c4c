"""The smoke of an image on a cluster: what must run tonight, what proves an image, what is told when it fails."""
