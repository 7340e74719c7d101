"""Reads what judges criticise in ended runs and puts it into categories, as a report of the project."""
