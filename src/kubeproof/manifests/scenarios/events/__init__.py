"""The events of a Scenario, as they are written."""
