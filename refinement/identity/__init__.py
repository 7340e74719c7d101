"""Sign-in with an OpenID Connect provider. No Django."""
