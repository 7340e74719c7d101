"""The form of a model endpoint."""

from itertools import chain, count
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.utils.text import slugify

from refinement.models import Endpoint
from refinement.models.system.endpoints import EndpointKind
from refinement.selectors.endpoints import endpoint_specs

OLLAMA_PORT = 11434
PLAIN = {"autocomplete": "off", "spellcheck": "false"}


def default_name(url: str) -> str:
    """A free name for the server at this address: gpu for http://gpu.example.org."""
    host = urlsplit(url if "//" in url else f"//{url}").hostname or ""
    parts = [part for part in host.split(".") if part not in ("api", "www")]
    is_number = ":" in host or host.replace(".", "").isdigit()
    name = slugify(parts[0])[:50] if parts and not is_number else ""
    name = "local" if name == "localhost" else name or "server"
    taken = {spec.name for spec in endpoint_specs()}
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(each for each in names if each not in taken)


def kind_at(url: str) -> str:
    """The kind of server that usually has this address: Ollama on its own port and without a path."""
    parts = urlsplit(url if "//" in url else f"//{url}")
    try:
        is_ollama = parts.port == OLLAMA_PORT and not parts.path.strip("/")
    except ValueError:
        is_ollama = False  # not a port
    return EndpointKind.OLLAMA if is_ollama else EndpointKind.OPENAI_COMPATIBLE


class EndpointForm(forms.Form):
    """A model endpoint. The key itself stays in the environment."""

    name = forms.CharField(
        label="Name",
        max_length=60,
        help_text=(
            "Letters, digits, “-” and “_”. Part of model names, as in gpu/qwen3:14b. It cannot be "
            "changed later."
        ),
        widget=forms.TextInput(attrs=PLAIN),
    )
    kind = forms.ChoiceField(label="Kind", choices=EndpointKind.choices)
    url = forms.CharField(
        label="URL",
        max_length=400,
        help_text="Such as http://gpu.example.org:11434, or https://gpu.example.org/v1 for an "
        "OpenAI-compatible server.",
        widget=forms.TextInput(attrs={**PLAIN, "inputmode": "url"}),
    )
    api_key_variable = forms.CharField(
        label="Key variable",
        required=False,
        max_length=120,
        help_text="Name of the environment variable that holds the API key, for example WIGGUM_KEY_OPENAI. "
        "Not the key itself. Set it where Wiggum runs, then restart.",
        widget=forms.TextInput(attrs=PLAIN),
    )
    key_goes_along = forms.BooleanField(
        label="Send the key to the new URL",
        required=False,
        help_text="Required if you change the URL and keep the variable.",
    )
    concurrency = forms.IntegerField(
        label="Concurrent calls",
        required=False,
        min_value=1,
        max_value=32_767,
        help_text="More calls wait in a queue. Empty: no limit.",
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )
    enabled = forms.BooleanField(
        label="Enabled",
        required=False,
        initial=True,
        help_text="If disabled, no run can be launched on it, and runs that need it fail.",
    )
    seen = forms.CharField(widget=forms.HiddenInput, required=False, max_length=40)

    def __init__(self, *args: Any, row: Endpoint | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.row = row
        del self.fields["key_goes_along" if row is None else "name"]

    def clean(self) -> dict[str, Any]:
        kept = super().clean() or {}
        row, variable = self.row, kept.get("api_key_variable")
        moved = row is not None and "url" in kept and kept["url"] != row.url
        if moved and variable and variable == row.api_key_variable and not kept["key_goes_along"]:  # type: ignore[union-attr]
            self.add_error(
                "key_goes_along",
                "The URL changed. Confirm that the key may be sent there, or clear the variable.",
            )
        return kept

    @property
    def values(self) -> dict[str, object]:
        """The values for the service."""
        apart = ("seen", "key_goes_along")
        return {name: value for name, value in self.cleaned_data.items() if name not in apart}


class ConnectForm(EndpointForm):
    """What is needed to reach a model server; the rest can be set later."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("concurrency", "enabled", "seen"):
            del self.fields[name]
        self.order_fields(["url", "kind", "api_key_variable", "name"])
        self.fields["url"].label = "Address"
        kind: Any = self.fields["kind"]
        kind.required, kind.initial = False, ""
        kind.choices = [("", "Detect automatically"), *EndpointKind.choices]
        self.fields["api_key_variable"].label = "API key variable"
        self.fields["api_key_variable"].help_text = (
            "Only if the server needs a key. Set the key as an environment variable where Wiggum runs, "
            "restart it, and enter the variable's name here, such as WIGGUM_KEY_OPENAI."
        )
        self.fields[
            "url"
        ].help_text = "Such as http://gpu.example.org:11434 (Ollama) or https://gpu.example.org/v1."
        naming = self.fields["name"]
        naming.required = False
        naming.help_text = f"{naming.help_text} If empty, it is taken from the address."

    def clean(self) -> dict[str, Any]:
        kept = super().clean()
        if not kept.get("kind") and "kind" not in self.errors:
            kept["kind"] = kind_at(kept.get("url", ""))
        if not kept.get("name") and "name" not in self.errors and kept.get("url"):
            kept["name"] = default_name(kept["url"])
            data: Any = self.data.copy()  # type: ignore[attr-defined]  # shown again, to be seen and changed
            data["name"] = kept["name"]
            self.data = data
        return kept

    @property
    def values(self) -> dict[str, object]:
        return {**self.cleaned_data, "enabled": True}
