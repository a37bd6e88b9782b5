"""The model's eye: what arrives after its downscale, and how well that can be read."""
