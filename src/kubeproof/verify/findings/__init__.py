"""What becomes of verdicts: results that are saved, compared, accepted, and what was left out."""
