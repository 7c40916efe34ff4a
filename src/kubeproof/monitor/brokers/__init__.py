"""Events from message brokers, which deliver again what nobody has confirmed."""
