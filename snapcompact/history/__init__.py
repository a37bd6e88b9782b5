"""Any tool's session file, read as one flat sequence of messages."""
