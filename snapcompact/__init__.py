"""Archives agent histories onto dense bitmap pages that machines read back."""
