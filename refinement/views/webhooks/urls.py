"""A project's webhooks and their deliveries."""

from django.urls import path

from refinement.views.webhooks import deliveries, hooks

WEBHOOKS = "p/<slug:slug>/settings/webhooks/"
ONE = f"{WEBHOOKS}<int:webhook>/"

urlpatterns = [
    path(WEBHOOKS, hooks.webhook_list, name="webhook_list"),
    path(ONE, hooks.webhook_page, name="webhook_page"),
    path(f"{ONE}secret/", hooks.webhook_new_secret, name="webhook_secret"),
    path(f"{ONE}ping/", hooks.webhook_trial, name="webhook_ping"),
    path(f"{ONE}remove/", hooks.webhook_removal, name="webhook_remove"),
    path(f"{ONE}deliveries/<int:delivery>/", deliveries.delivery_page, name="webhook_delivery"),
    path(f"{ONE}deliveries/<int:delivery>/resend/", deliveries.delivery_resending, name="webhook_resend"),
]
