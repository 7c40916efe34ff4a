"""The named properties over cluster states."""
