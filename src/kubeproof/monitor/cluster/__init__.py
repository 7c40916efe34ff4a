"""The intents of a Scenario, judged on what a real cluster does."""
