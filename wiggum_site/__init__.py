"""The site around the application: settings, addresses, entry points and the message broker."""

VERSION = "0.1.0"
