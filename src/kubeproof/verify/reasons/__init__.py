"""Why a counterexample happens: who could have helped and does not, who fights over what, in three sentences."""
