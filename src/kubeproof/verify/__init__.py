"""Use case: from a setup and a scenario to one verdict per intent."""
