"""Reads and validates settings from the environment."""

import fcntl
import os
import re
import secrets
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from refinement.identity.settings import OpenIDSettings
from refinement.webhooks.networks import PRIVATE, Network

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}
DATABASE_ENGINES = {"sqlite": "sqlite3", "postgres": "postgresql", "postgresql": "postgresql"}
BROKER_SCHEMES = ("database", "redis", "rediss", "amqp", "amqps")

KEY_CHARS = 32
KEY_FILE = "secret_key"
OLD_KEYS_FILE = "secret_key_fallbacks"


class BadSetting(SystemExit):
    """Ends the process with a message: the setting, the problem and the fix."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"wiggum: invalid setting {name}: {problem}")


def text(name: str, default: str) -> str:
    return os.environ.get(name, "").strip() or default


def flag(name: str, default: bool) -> bool:
    value = os.environ.get(name)
    if value is None:
        return default
    if value.strip().lower() in TRUE:
        return True
    if value.strip().lower() in FALSE:
        return False
    raise BadSetting(name, f"{value!r} is neither true nor false; use 1 or 0.")


def number(name: str, default: int, *, minimum: int, maximum: int) -> int:
    value = text(name, str(default))
    try:
        parsed = int(value)
    except ValueError:
        raise BadSetting(name, f"{value!r} is not a whole number.") from None
    if not minimum <= parsed <= maximum:
        raise BadSetting(name, f"{parsed} is not between {minimum} and {maximum}.")
    return parsed


def names(name: str, default: list[str]) -> list[str]:
    return [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()] or default


class ReadOnly:
    """Whether reading the settings may create the data directory and the secret key. `doctor` may not."""

    on = False


def data_directory(default: Path) -> Path:
    """The instance's data directory. Creates it, and checks that it is writable."""
    path = Path(text("WIGGUM_DATA_DIR", str(default))).expanduser().absolute()
    if ReadOnly.on and not path.exists():
        return path
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe = path / f".write-test-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise BadSetting(
            "WIGGUM_DATA_DIR", f"cannot write to {path} ({error.strerror}); choose another directory."
        ) from None
    return path


def append_file(name: str) -> Path | None:
    """A file to append to, or None. Checks that it can be opened; a missing file is created later."""
    value = text(name, "")
    if not value:
        return None
    path = Path(value).expanduser().absolute()
    target = path if path.exists() else path.parent
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise BadSetting(name, f"{path} is not a regular file.")
    if not path.parent.is_dir() or not os.access(target, os.W_OK):
        raise BadSetting(name, f"cannot write to {path}; its directory must exist and be writable.")
    return path


def secret_key(directory: Path) -> str:
    """SECRET_KEY, or a generated key that is stored in the data directory, readable only by its owner."""
    from_environment = os.environ.get("SECRET_KEY", "").strip()
    if from_environment:
        if len(from_environment) < KEY_CHARS:
            raise BadSetting("SECRET_KEY", "shorter than 32 characters; unset it to generate one.")
        return from_environment
    file = directory / KEY_FILE
    if ReadOnly.on and not file.exists():
        return secrets.token_urlsafe(64)  # for this process only
    if not file.exists():
        _secret_key_create(file)
    key = file.read_text().strip()
    if len(key) < KEY_CHARS:
        raise BadSetting("SECRET_KEY", f"{file} is damaged; delete it to generate a new key.")
    return key


def _secret_key_create(file: Path) -> None:
    """Generate the key, unless a process that started at the same time has done so."""
    with file.with_name(f".{file.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            _write_private(file, secrets.token_urlsafe(64))


def secret_key_fallbacks(directory: Path, name: str = "WIGGUM_SECRET_KEY_FALLBACKS") -> list[str]:
    """Old secret keys that are still accepted, from the environment and from a rotation."""
    keys = names(name, [])
    if any(len(key) < KEY_CHARS for key in keys):
        raise BadSetting(name, "a key is shorter than 32 characters; separate keys with commas.")
    file = directory / OLD_KEYS_FILE
    # The file belongs to the generated key, not to one from the environment.
    if not os.environ.get("SECRET_KEY", "").strip() and file.exists():
        keys += [key for key in file.read_text().split() if len(key) >= KEY_CHARS]
    return list(dict.fromkeys(keys))


def secret_key_replace(directory: Path) -> None:
    """Generate a new key for the next start. The current key stays valid as a fallback."""
    current = (directory / KEY_FILE).read_text().strip()
    # In this order, so that an interruption never loses a key.
    _write_private(directory / OLD_KEYS_FILE, current)
    _write_private(directory / KEY_FILE, secrets.token_urlsafe(64))


def _write_private(path: Path, text: str) -> None:
    """Replace the file atomically."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(path)


def address(name: str, default: str, *, schemes: tuple[str, ...]) -> str:
    """A URL with one of these schemes and a host."""
    value = text(name, default)
    parts = split_address(name, value)
    if parts.scheme not in schemes:
        raise BadSetting(name, f"{value!r} must start with {' or '.join(f'{s}://' for s in schemes)}.")
    if not parts.hostname:
        raise BadSetting(name, f"{value!r} has no host.")
    return value


def site(name: str = "WIGGUM_SITE_URL") -> str:
    """The public URL of the instance without a trailing slash, or an empty string."""
    value = text(name, "").rstrip("/")
    if not value:
        return ""
    if urlsplit(address(name, value, schemes=("http", "https"))).query or "@" in value or "#" in value:
        raise BadSetting(name, f"{value!r} is not a plain URL; write it like https://wiggum.example.org.")
    return value


def networks(name: str) -> tuple[Network, ...]:
    """Networks separated by commas. `1` means all private networks, `0` or empty means none."""
    value = os.environ.get(name, "").strip().lower()
    if value in FALSE:
        return ()
    if value in TRUE:
        return PRIVATE
    try:
        return tuple(ip_network(part.strip()) for part in value.split(","))
    except ValueError as error:
        raise BadSetting(name, f"{error}; use 1, 0, or networks such as 10.1.0.0/16.") from None


def broker(name: str = "WIGGUM_BROKER_URL") -> str:
    """`database` (the default), or a Redis or RabbitMQ URL."""
    value = text(name, "database://")
    scheme = value if value == "database" else split_address(name, value).scheme
    if scheme not in BROKER_SCHEMES:
        known = ", ".join(f"{known}://" for known in BROKER_SCHEMES)
        raise BadSetting(name, f"unknown scheme {scheme!r}; use one of {known}.")
    return "database://" if scheme == "database" else address(name, value, schemes=BROKER_SCHEMES[1:])


def key_variables(name: str = "WIGGUM_KEY_VARIABLES") -> list[str]:
    """Names of variables, and prefixes that end with *. A bare * is refused: it would expose every secret."""
    allowed = names(name, ["WIGGUM_KEY_*"])
    for pattern in allowed:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*\*?", pattern):
            raise BadSetting(
                name, f"{pattern!r} is not a variable name; use names, or prefixes such as WIGGUM_KEY_*."
            )
    return allowed


def check_endpoints() -> None:
    """End the process if the setting of an endpoint is invalid."""
    from refinement.providers.registry import default_specs

    try:
        default_specs(os.environ)
    except ValueError as error:
        raise BadSetting("of an endpoint", str(error)) from None


def split_address(name: str, value: str) -> SplitResult:
    try:
        parts = urlsplit(value)
        parts.port  # noqa: B018  reading it is what validates it
    except ValueError as error:
        raise BadSetting(name, f"{value!r} is not a valid URL ({error}).") from None
    return parts


def database(directory: Path, name: str = "DATABASE_URL") -> dict[str, object]:
    """Django's database settings for a URL such as postgres://user:password@host:5432/name."""
    value = text(name, f"sqlite:///{directory / 'wiggum.sqlite3'}")
    parts = split_address(name, value)
    engine = DATABASE_ENGINES.get(parts.scheme)
    if engine is None:
        raise BadSetting(
            name,
            f"unknown scheme {parts.scheme!r}; use sqlite:///PATH or postgres://USER:PASSWORD@HOST/NAME.",
        )
    if engine == "sqlite3":
        return sqlite(name, Path(unquote(parts.path)))
    database_name = unquote(parts.path).lstrip("/")
    if not database_name:
        raise BadSetting(name, "the database name is missing; the URL must end with /NAME.")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database_name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }


def sqlite(name: str, path: Path) -> dict[str, object]:
    there = ReadOnly.on or (path.parent.is_dir() and os.access(path.parent, os.W_OK))
    if path == Path() or path.is_dir() or not there:
        raise BadSetting(name, f"cannot use a SQLite database at {str(path)!r}; its directory must exist.")
    return {
        "ENGINE": "wiggum_site.sqlite",
        "NAME": path,
        "CONN_MAX_AGE": 60,
        # Tests use a file too, so that threads and processes share it as in production.
        "TEST": {"NAME": path.with_name("test.sqlite3")},
        "OPTIONS": {
            # IMMEDIATE takes the write lock at the start: a deferred transaction can fail half way.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-20000;",
        },
    }


def openid_connect() -> OpenIDSettings | None:
    """The sign-in provider, or None if it is not configured."""
    issuer = text("WIGGUM_OIDC_ISSUER", "")
    client_id, secret = text("WIGGUM_OIDC_CLIENT_ID", ""), text("WIGGUM_OIDC_CLIENT_SECRET", "")
    name = text("WIGGUM_OIDC_NAME", "")
    if not issuer:
        if client_id or secret or name:
            raise BadSetting("WIGGUM_OIDC_ISSUER", "required if another WIGGUM_OIDC_ setting is set.")
        return None
    host = _issuer_host("WIGGUM_OIDC_ISSUER", issuer)
    if not client_id:
        raise BadSetting("WIGGUM_OIDC_CLIENT_ID", "required if WIGGUM_OIDC_ISSUER is set.")
    if not secret:
        raise BadSetting("WIGGUM_OIDC_CLIENT_SECRET", "required if WIGGUM_OIDC_ISSUER is set.")
    return OpenIDSettings(issuer=issuer, client_id=client_id, client_secret=secret, name=(name or host)[:40])


def _issuer_host(name: str, issuer: str) -> str:
    """The issuer's host. HTTPS is required except on this machine, because secrets are sent to it."""
    parts = split_address(name, address(name, issuer, schemes=("https", "http")))
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise BadSetting(name, "must start with https:// unless it is on this machine.")
    if parts.query or parts.fragment or parts.username:
        raise BadSetting(name, "must not have a query, fragment or user name.")
    return str(parts.hostname)
