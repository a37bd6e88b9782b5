"""The models that pages are sent to: what they bill, see and accept."""
