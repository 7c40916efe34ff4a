"""Smaller models with the same answers: starts and ends in unison, partial orders, abstractions.

Each has its proof in `docs/explanation/reductions.md`.
"""
