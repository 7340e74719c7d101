"""Networks that an administrator can allow. The settings import this module."""

import ipaddress

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
# The networks allowed by the value "private". Link-local addresses are not included, because clouds serve
# credentials there. An administrator can still allow them by network.
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
