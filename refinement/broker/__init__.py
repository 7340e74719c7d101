"""A Dramatiq broker that uses the application's database."""
