"""Hospitals train one model together, and every patient is protected."""
