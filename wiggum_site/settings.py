"""All settings, from the environment, with defaults for one machine."""

from pathlib import Path

from csp.constants import NONE, SELF
from whitenoise.compress import Compressor

from wiggum_site import environment as env
from wiggum_site.log_lines import LineFormatter

BASE_DIR = Path(__file__).resolve().parent.parent

# --- where things are -------------------------------------------------------------------------
DATA_DIR = env.data_directory(BASE_DIR / "data")
DATABASES = {"default": env.database(DATA_DIR)}
BROKER_URL = env.broker()
OLLAMA_URL = env.address("WIGGUM_OLLAMA_URL", "http://127.0.0.1:11434", schemes=("http", "https"))
env.check_endpoints()
WORKER_THREADS = env.number("WIGGUM_WORKER_THREADS", 32, minimum=1, maximum=512)

# --- security ---------------------------------------------------------------------------------
DEBUG = env.flag("DEBUG", False)
SECRET_KEY = env.secret_key(DATA_DIR)
SECRET_KEY_FALLBACKS = env.secret_key_fallbacks(DATA_DIR)
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.names("CSRF_TRUSTED_ORIGINS", [])
# HTTPS is on when the instance is told that it stands behind it; a laptop's loopback address has none.
HTTPS = env.flag("WIGGUM_HTTPS", False)
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz)$"]  # asked by the machine itself, behind whatever ends HTTPS
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
# How many proxies in front append to X-Forwarded-For; the one that ends HTTPS is one of them.
TRUSTED_PROXIES = env.number("WIGGUM_TRUSTED_PROXIES", int(HTTPS), minimum=0, maximum=10)
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
# Preloading lists the whole domain in browsers for years: a choice of its owner, not a default to warn about.
SECURE_HSTS_PRELOAD = HTTPS and env.flag("WIGGUM_HSTS_PRELOAD", False)
SILENCED_SYSTEM_CHECKS = ["security.W021"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Environment variables that endpoints added in the browser may send as their key; a name, or a prefix and *.
KEY_VARIABLES = env.key_variables()
# Into which private networks webhooks may be sent; into none unless somebody says so.
WEBHOOK_NETWORKS = env.networks("WIGGUM_WEBHOOK_PRIVATE")
# The programs that a rubric's evaluator may start, by the first word of its command; * is any. None unless
# somebody says so: each process reads its own, so that a worker's machine decides what runs on it.
COMMANDS = env.names("WIGGUM_COMMANDS", [])
# Files and folders that commands may read in the sandbox, besides the system's programs.
COMMANDS_READABLE = env.names("WIGGUM_COMMANDS_READABLE", [])
# The socket of the evaluator service; without one, workers run commands on their own machine.
EVALUATOR_SOCKET = env.text("WIGGUM_EVALUATOR_SOCKET", "")
# Runs commands with all rights of the worker's account where there is no sandbox.
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

# Rate limits of pages count in the memory of the web process, of which there is one. With Django's default of
# 300 entries, an attacker who tries many names would push out the counts of others.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 20_000},
    }
}
# How many requests a token may make in a minute, in all web processes together.
API_RATE = env.number("WIGGUM_API_RATE", 600, minimum=1, maximum=1_000_000)

# --- the application ----------------------------------------------------------------------------
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
# Nobody can sign up, so a stranger's address needs no mail that invites it to.
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_RATE_LIMITS = {
    "login_failed": "10/m/ip,10/5m/key",  # wrong passwords, by address and by account
    "login_failed_here": "5/5m/key",  # wrong passwords for one account at one address
    "code_failed": "5/5m/user",  # wrong codes of a second factor
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
# Nobody signs up with another person's address: accounts come from invitations.
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
# A provider to sign in with; people without an account here still need an invitation.
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
SITE_URL = env.site()  # for links in mails and webhooks that workers send
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
# Compressing is the slowest part of a first start: source maps are large, and nobody's page needs them.
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = [*Compressor.SKIP_COMPRESS_EXTENSIONS, "map"]
LANGUAGE_CODE = "en"
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATA_UPLOAD_MAX_MEMORY_SIZE = 12 * 1024 * 1024
# A rubric with all the criteria and checks it can have is one form.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000

# --- what is said and counted -------------------------------------------------------------------
# Prometheus sends it as a bearer token; without one, only a signed-in administrator reads /metrics.
METRICS_TOKEN = env.text("WIGGUM_METRICS_TOKEN", "")
if 0 < len(METRICS_TOKEN) < 16:
    raise env.BadSetting("WIGGUM_METRICS_TOKEN", "shorter than 16 characters; choose a longer one.")
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
LOG_LEVEL = env.text("WIGGUM_LOG_LEVEL", "INFO").upper()
if LOG_LEVEL not in LOG_LEVELS:
    raise env.BadSetting(
        "WIGGUM_LOG_LEVEL", f"{LOG_LEVEL!r} is no level; use one of {', '.join(LOG_LEVELS)}."
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
        # Django's own handlers are off: they mail administrators, and say nothing on the console.
        "django": {"handlers": [], "propagate": True, "level": "WARNING"},
    },
}
