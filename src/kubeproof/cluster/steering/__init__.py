"""Objects that steer loops: autoscalers, budgets, priorities, quotas, profiles."""
