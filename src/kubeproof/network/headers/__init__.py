"""Packets with headers: devices that filter, rewrite and wrap them, every header at once."""
