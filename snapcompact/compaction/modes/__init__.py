"""The ways to compact: pages, a summary, a provider of its own."""
