"""The Deployment controller with several revisions: rollouts and their scaling."""
