"""What rules watch in one partition of a stream, and how they tell what is wrong."""
