"""Schedulers: which configuration gets the next epoch, and the best that could have been done."""
