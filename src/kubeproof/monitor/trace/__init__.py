"""Black-box tracing: publishes what a service sends and answers as events, without knowing what it means.

Nothing here may harm the traced service: events are handed to a thread, a full buffer drops the oldest (the monitor
notices the gap in the sequence), and whatever goes wrong in the tracer stays in the tracer.
"""
