"""From a path of the search to a run with real names that has been replayed."""
