"""Answers that need less than a search of the whole: bounds, slices, parts, coarser models."""
