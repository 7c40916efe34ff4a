"""Best settings: the cheapest values of fields that keep all promises, found by racing simulated runs."""
