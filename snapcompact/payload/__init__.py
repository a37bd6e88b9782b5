"""An archive as content blocks ready to send to a model."""
