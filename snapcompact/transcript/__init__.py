"""History to transcript and back; what may be folded, named or hidden on the way."""
