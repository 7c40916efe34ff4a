"""Events on their way in: put in order, copies dropped, split into runs."""
