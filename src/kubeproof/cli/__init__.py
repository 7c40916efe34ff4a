"""Arguments, exit codes, progress; no logic."""
