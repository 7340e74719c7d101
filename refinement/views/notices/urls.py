"""A person's inbox and notification settings."""

from django.urls import path

from refinement.views.notices import inbox

urlpatterns = [
    path("inbox/", inbox.inbox, name="inbox"),
    path("inbox/read/", inbox.inbox_read_all, name="inbox_read_all"),
    path("inbox/<int:notice>/", inbox.inbox_open, name="inbox_open"),
    path("inbox/<int:notice>/read/", inbox.inbox_read, name="inbox_read"),
    path("account/notices/", inbox.notice_settings, name="notice_settings"),
]
