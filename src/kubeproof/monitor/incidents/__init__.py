"""Alarms that belong together: one incident per trouble, with a level that grows with the evidence."""
