"""Prices of models, for administrators."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from refinement.access.projects import SignedInRequest
from refinement.forms.prices import PriceForm
from refinement.models import ModelPrice
from refinement.selectors.launch.available_models import models_offered
from refinement.selectors.rubrics.definitions import plain
from refinement.services.prices import price_remove, price_set
from refinement.views.system.administration import administrator_view

MOST_PRICES = 500


@require_http_methods(["GET", "HEAD", "POST"])
@administrator_view
def prices(request: SignedInRequest) -> HttpResponse:
    """All prices, and a form that adds or changes one."""
    if request.method != "POST":
        return _page(request, _form_of(request.GET.get("model", "")))
    form = PriceForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    row = price_set(**form.values, by=request.user)
    messages.success(request, f"Price of {row} saved. It applies to runs launched from now on.")
    return redirect("administration_prices")


@require_POST
@administrator_view
def price_removal(request: SignedInRequest, price: int) -> HttpResponse:
    """Removes a price; costs of past runs stay."""
    if price_remove(price=price, by=request.user):
        messages.success(request, "Price removed.")
    return redirect("administration_prices")


def _form_of(model: str) -> PriceForm:
    """The form, filled with the price of the model if it has one."""
    endpoint, _, name = model.replace("\x00", "").partition("/")
    row = ModelPrice.objects.filter(endpoint=endpoint, model=name).first() if name else None
    if row is None:
        return PriceForm(initial={"model": model})
    amounts = {"prompt": plain(row.prompt), "completion": plain(row.completion)}
    return PriceForm(initial={"model": str(row), **amounts})


def _page(request: SignedInRequest, form: PriceForm, status: int = 200) -> HttpResponse:
    rows = list(ModelPrice.objects.all()[:MOST_PRICES])
    known = [f"{offer.endpoint}/{info.name}" for offer in models_offered() for info in offer.models]
    page = {"tab": "prices", "form": form, "prices": rows, "known": known, "currency": settings.CURRENCY}
    return render(request, "refinement/people/administration_prices.html", page, status=status)
