"""What is counted and measured along a run, and what loops and autoscalers get to see of it."""
