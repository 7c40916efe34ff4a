"""The descheduler's plugins, one module each."""
