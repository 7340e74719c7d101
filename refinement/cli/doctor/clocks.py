"""Two clocks, and whether they are near enough to each other."""

from datetime import UTC, datetime

from refinement.cli.doctor.findings import Finding, fail, ok, warn

# Leases last 15 seconds and are compared with each machine's own clock.
SKEW_SECONDS = 2.0
BAD_SKEW_SECONDS = 10.0
SET_CLOCKS = "Set the clocks by NTP: timedatectl set-ntp true, on this machine and on that one."


def clock_finding(name: str, whose: str, there: float, here: float) -> Finding:
    """Two clocks, read at the same moment."""
    apart = there - here
    if abs(apart) <= SKEW_SECONDS:
        return ok(name, f"{whose} has the time of this machine")
    direction = "ahead of" if apart > 0 else "behind"
    moment = datetime.fromtimestamp(here, UTC)
    what = (
        f"the clock of {whose} is {abs(apart):.0f} s {direction} this machine's ({moment:%H:%M:%S} UTC here)"
    )
    tell = fail if abs(apart) > BAD_SKEW_SECONDS else warn
    return tell(name, what, SET_CLOCKS)
