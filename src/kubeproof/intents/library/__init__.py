"""The intents, one declaration each, by what they are about."""
