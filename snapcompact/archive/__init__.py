"""Pages, manifest and source in one folder or zip: written, read, verified, grown."""
