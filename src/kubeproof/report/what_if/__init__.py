"""Answers to what-if questions: text, JSON, a page."""
