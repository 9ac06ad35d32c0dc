"""Many targets under one budget: where to fuzz next, and when to stop."""
