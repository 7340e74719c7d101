"""Networks that an administrator can allow; light, because the settings read it."""

import ipaddress

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
# What "private" means when an administrator allows it as a whole. Link-local addresses are not among them:
# that is where clouds keep a machine's credentials, and who needs one can name it.
PRIVATE: tuple[Network, ...] = tuple(
    ipaddress.ip_network(text)
    for text in (
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "::1/128",
        "fc00::/7",
    )
)
