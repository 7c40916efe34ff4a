"""Where events come from: one module per format, all with the same shape (`Reader`)."""
