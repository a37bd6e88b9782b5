"""The numba core: arrays in, arrays out, nothing about sessions."""
