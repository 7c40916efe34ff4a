"""Settings shared by all tests."""

from hypothesis import settings

# The same examples in every run: a red build must be red again on the next machine.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True, database=None)
settings.load_profile("ci")
