"""How sure the numbers of many runs are."""
