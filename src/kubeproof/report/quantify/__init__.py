"""Answers about chances: of models, of clusters, of variants side by side."""
