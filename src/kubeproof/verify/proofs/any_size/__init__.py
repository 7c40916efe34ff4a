"""Proofs of intents at every size of an input at once."""
