"""Evaluation: measures, the policy they are taken under, intervals, tests, run files, tables and the HTML report."""
