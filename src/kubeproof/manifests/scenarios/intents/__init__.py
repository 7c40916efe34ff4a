"""The intents of a Scenario, as they are written, and whom they are about."""
