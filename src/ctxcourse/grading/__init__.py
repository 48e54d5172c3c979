"""Grading of notebooks: hidden tests run in the grader's process and reach the student's kernel as data."""
