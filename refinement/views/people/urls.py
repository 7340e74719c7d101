"""Members of a project and invitations."""

from django.urls import path

from refinement.views.people import invitations, join, members

MEMBERS = "p/<slug:slug>/members/"

urlpatterns = [
    path(MEMBERS, members.member_list, name="member_list"),
    path(f"{MEMBERS}leave/", members.member_leaving, name="member_leave"),
    path(f"{MEMBERS}<int:member>/role/", members.member_role, name="member_role"),
    path(f"{MEMBERS}<int:member>/remove/", members.member_removal, name="member_remove"),
    path(f"{MEMBERS}invite/", invitations.invitation_create, name="invitation_create"),
    path(
        f"{MEMBERS}invitations/<int:invitation>/revoke/",
        invitations.invitation_revocation,
        name="invitation_revoke",
    ),
    path("join/<str:token>/", join.join, name="join"),
]
