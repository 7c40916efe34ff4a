"""The Scenario object: events, intents, scale, traffic, and the scenarios that are built in."""
