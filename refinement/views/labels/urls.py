"""Label sets and the labelling queue."""

from django.urls import path

from refinement.views.labels import importing, library, queue, sets

LABELS = "p/<slug:slug>/labels/"
LABEL_SET = f"{LABELS}<int:label_set>/"
ITEM = f"{LABEL_SET}texts/<int:position>/"

urlpatterns = [
    path(LABELS, library.label_set_list, name="label_set_list"),
    path(f"{LABELS}new/", library.label_set_new, name="label_set_new"),
    path(f"{LABELS}import/", importing.label_set_import, name="label_set_import"),
    path(LABEL_SET, sets.label_set_page, name="label_set_page"),
    path(f"{LABEL_SET}edit/", sets.label_set_edit, name="label_set_edit"),
    path(f"{LABEL_SET}archive/", sets.label_set_archived, name="label_set_archive"),
    path(f"{LABEL_SET}add/", sets.label_set_add, name="label_set_add"),
    path(f"{LABEL_SET}export/<str:what>/<str:form>/", sets.label_set_export, name="label_set_export"),
    path(f"{LABEL_SET}queue/", queue.label_queue, name="label_queue"),
    path(f"{LABEL_SET}leave/", queue.label_queue_leave, name="label_queue_leave"),
    path(ITEM, sets.label_item_page, name="label_item_page"),
    path(f"{ITEM}wrong/<int:label>/", sets.label_wrong, name="label_wrong"),
]
