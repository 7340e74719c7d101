"""Settings from the environment, with defaults for a single machine."""

from pathlib import Path

from csp.constants import NONE, SELF
from whitenoise.compress import Compressor

from wiggum_site import environment as env
from wiggum_site.log_lines import LineFormatter

BASE_DIR = Path(__file__).resolve().parent.parent

# --- services ---------------------------------------------------------------------------------
DATA_DIR = env.data_directory(BASE_DIR / "data")
DATABASES = {"default": env.database(DATA_DIR)}
BROKER_URL = env.broker()
OLLAMA_URL = env.address("WIGGUM_OLLAMA_URL", "http://127.0.0.1:11434", schemes=("http", "https"))
env.check_endpoints()
WORKER_THREADS = env.number("WIGGUM_WORKER_THREADS", 32, minimum=1, maximum=512)
# A file to which a line is appended for each run that ends.
RUNS_LOG = env.append_file("WIGGUM_RUNS_LOG")
# ENDPOINT/MODEL of an embedding model that groups issues; without it, their words are compared.
EMBEDDING_MODEL = env.text("WIGGUM_EMBEDDING_MODEL", "")
CURRENCY = env.text("WIGGUM_CURRENCY", "$")  # in front of amounts of money

# --- security ---------------------------------------------------------------------------------
DEBUG = env.flag("DEBUG", False)
SECRET_KEY = env.secret_key(DATA_DIR)
SECRET_KEY_FALLBACKS = env.secret_key_fallbacks(DATA_DIR)
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.names("CSRF_TRUSTED_ORIGINS", [])
# Set it if the instance is served over HTTPS.
HTTPS = env.flag("WIGGUM_HTTPS", False)
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz)$"]  # health checks bypass the proxy
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
# The number of proxies that append to X-Forwarded-For, including the one that terminates HTTPS.
TRUSTED_PROXIES = env.number("WIGGUM_TRUSTED_PROXIES", int(HTTPS), minimum=0, maximum=10)
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
# Preloading lists the whole domain in browsers for years, so it is off by default.
SECURE_HSTS_PRELOAD = HTTPS and env.flag("WIGGUM_HSTS_PRELOAD", False)
SILENCED_SYSTEM_CHECKS = ["security.W021"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Environment variables that endpoints added in the browser can use as API keys: names, or prefixes with *.
KEY_VARIABLES = env.key_variables()
# Private networks that webhooks may reach. None by default.
WEBHOOK_NETWORKS = env.networks("WIGGUM_WEBHOOK_PRIVATE")
# Programs that evaluators may run, by the first word of the command; * allows all. None by default. Each
# process reads its own setting, so that each machine decides what runs on it.
COMMANDS = env.names("WIGGUM_COMMANDS", [])
# Files and folders that commands can read in the sandbox, in addition to the system's programs.
COMMANDS_READABLE = env.names("WIGGUM_COMMANDS_READABLE", [])
# Programs whose commands may use the network from the sandbox, as in COMMANDS. None by default.
COMMANDS_NETWORK = env.names("WIGGUM_COMMANDS_NETWORK", [])
# The socket of the evaluator service. Without it, workers run commands on their own machine.
EVALUATOR_SOCKET = env.text("WIGGUM_EVALUATOR_SOCKET", "")
# Run commands with all permissions of the worker's account if there is no sandbox.
UNSAFE_COMMANDS = env.flag("WIGGUM_UNSAFE_COMMANDS_WITHOUT_SANDBOX", False)
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "refinement.views.system.errors.csrf_failure"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# Rate limits of pages are counted in the memory of the single web process. With Django's default of 300
# entries, an attacker with many names would evict the counts of others.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 20_000},
    }
}
# Requests per minute and API token, across all web processes.
API_RATE = env.number("WIGGUM_API_RATE", 600, minimum=1, maximum=1_000_000)

# --- application --------------------------------------------------------------------------------
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",
    "django_htmx",
    "csp",
    "ninja",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "refinement",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "refinement.middleware.PageHeadersMiddleware",
    "refinement.api.core.responses.AnswersMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "refinement.middleware.OriginMiddleware",
    "refinement.middleware.SessionsMiddleware",
    "refinement.middleware.SignedInMiddleware",
    "refinement.middleware.TimeZoneMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
ROOT_URLCONF = "wiggum_site.urls"
ASGI_APPLICATION = "wiggum_site.asgi.application"
WSGI_APPLICATION = "wiggum_site.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "refinement.context_processors.page",
            ],
        },
    }
]
FORM_RENDERER = "refinement.forms.rendering.FormRenderer"

# --- accounts -----------------------------------------------------------------------------------
AUTH_USER_MODEL = "refinement.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_ADAPTER = "refinement.adapters.AccountAdapter"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Wiggum] "
# There is no public sign-up, so unknown addresses get no email.
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_RATE_LIMITS = {
    "login_failed": "10/m/ip,10/5m/key",  # wrong passwords, by address and by account
    "login_failed_here": "5/5m/key",  # wrong passwords for one account from one address
    "code_failed": "5/5m/user",  # wrong second-factor codes
}
ACCOUNT_FORMS = {
    "login": "refinement.forms.people.accounts.LoginForm",
    "change_password": "refinement.forms.people.accounts.ChangePasswordForm",
    "set_password": "refinement.forms.people.accounts.SetPasswordForm",
    "reset_password": "refinement.forms.people.accounts.ResetPasswordForm",
    "reset_password_from_key": "refinement.forms.people.accounts.ResetPasswordKeyForm",
    "reauthenticate": "refinement.forms.people.accounts.ReauthenticateForm",
}
MFA_ADAPTER = "refinement.adapters.TwoFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_TOTP_ISSUER = "Wiggum"
# Accounts come from invitations, so nobody can sign up with another person's address.
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_FORMS = {
    "authenticate": "refinement.forms.people.two_factor.AuthenticateForm",
    "reauthenticate": "refinement.forms.people.two_factor.ReauthenticateForm",
    "activate_totp": "refinement.forms.people.two_factor.ActivateTOTPForm",
    "authenticate_webauthn": "refinement.forms.people.two_factor.AuthenticateWebAuthnForm",
    "login_webauthn": "refinement.forms.people.two_factor.LoginWebAuthnForm",
    "reauthenticate_webauthn": "refinement.forms.people.two_factor.ReauthenticateWebAuthnForm",
    "add_webauthn": "refinement.forms.people.two_factor.AddPasskeyForm",
    "edit_webauthn": "refinement.forms.people.two_factor.RenamePasskeyForm",
}
# The sign-in provider. People without an account still need an invitation.
OPENID_CONNECT = env.openid_connect()

# --- mail ---------------------------------------------------------------------------------------
EMAIL_HOST = env.text("EMAIL_HOST", "")
EMAIL_PORT = env.number("EMAIL_PORT", 587, minimum=1, maximum=65_535)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = env.flag("EMAIL_USE_TLS", True)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "wiggum@localhost")
MAIL_CONFIGURED = bool(EMAIL_HOST)
SITE_URL = env.site()  # for links in emails and webhooks
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if MAIL_CONFIGURED else 'console'}.EmailBackend"

# --- static files, language, time ---------------------------------------------------------------
STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "wiggum_site.statics.StaticFiles"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
# Compression is the slowest part of a first start, and source maps are large and rarely used.
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = [*Compressor.SKIP_COMPRESS_EXTENSIONS, "map"]
LANGUAGE_CODE = "en"
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATA_UPLOAD_MAX_MEMORY_SIZE = 12 * 1024 * 1024
# The form of a rubric with the maximum number of criteria and checks.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000

# --- logs and metrics ---------------------------------------------------------------------------
# The bearer token for Prometheus. Without it, only administrators can read /metrics.
METRICS_TOKEN = env.text("WIGGUM_METRICS_TOKEN", "")
if 0 < len(METRICS_TOKEN) < 16:
    raise env.BadSetting("WIGGUM_METRICS_TOKEN", "shorter than 16 characters; choose a longer one.")
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
LOG_LEVEL = env.text("WIGGUM_LOG_LEVEL", "INFO").upper()
if LOG_LEVEL not in LOG_LEVELS:
    raise env.BadSetting(
        "WIGGUM_LOG_LEVEL", f"{LOG_LEVEL!r} is not a log level; use one of {', '.join(LOG_LEVELS)}."
    )

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": LineFormatter, "format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},  # writes to stderr
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "wiggum": {"level": LOG_LEVEL},
        # Replaces Django's handlers, which email administrators and log nothing to the console.
        "django": {"handlers": [], "propagate": True, "level": "WARNING"},
    },
}
