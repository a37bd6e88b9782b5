"""How well a model can be expected to read a page, without asking any model."""
