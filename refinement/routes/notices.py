"""A person's inbox, and what they want to be told."""

from django.urls import path

from refinement.views import notices

urlpatterns = [
    path("inbox/", notices.inbox, name="inbox"),
    path("inbox/read/", notices.inbox_read_all, name="inbox_read_all"),
    path("inbox/<int:notice>/", notices.inbox_open, name="inbox_open"),
    path("inbox/<int:notice>/read/", notices.inbox_read, name="inbox_read"),
    path("account/notices/", notices.notice_settings, name="notice_settings"),
]
