"""Estimators against ground truth: bias, variance, coverage, under-estimates."""
