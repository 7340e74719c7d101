"""Settings of the OpenID Connect provider."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class OpenIDSettings:
    """The client registration at the provider. The secret is never shown."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
