"""How an instance knows its OpenID Connect provider."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class OpenIDSettings:
    """What the administrator of the provider gave out; the secret is never shown."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
