"""Ways to answer intents, one module each; `kubeproof.verify.strategies.walk` has them in order."""
