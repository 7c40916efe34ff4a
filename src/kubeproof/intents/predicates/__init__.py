"""The language of predicates: what it can measure, and how it is read."""
