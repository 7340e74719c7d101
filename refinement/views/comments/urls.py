"""Threads and comments of a run."""

from django.urls import path

from refinement.views.comments import comments, threads

RUN = "p/<slug:slug>/runs/<int:run>"
THREAD = f"{RUN}/threads/<int:thread>"
COMMENT = f"{RUN}/comments/<int:comment>"

urlpatterns = [
    path("p/<slug:slug>/mentions/", comments.mention_names, name="mention_names"),
    path(f"{RUN}/threads/", threads.run_threads, name="run_threads"),
    path(f"{THREAD}/reply/", threads.thread_reply, name="thread_reply"),
    path(f"{THREAD}/resolve/", threads.thread_resolution, name="thread_resolve"),
    path(f"{THREAD}/instruct/", threads.thread_instruct, name="thread_instruct"),
    path(f"{COMMENT}/", comments.comment_page, name="comment_page"),
    path(f"{COMMENT}/edit/", comments.comment_change, name="comment_edit"),
    path(f"{COMMENT}/delete/", comments.comment_deletion, name="comment_delete"),
    path(f"{COMMENT}/history/", comments.comment_history, name="comment_history"),
]
