"""Sign-in by an OpenID Connect provider; knows no Django."""
