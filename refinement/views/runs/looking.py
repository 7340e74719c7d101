"""A list that was not looked through to its end: how its page goes on by itself."""

from dataclasses import dataclass

from django.http import QueryDict

from refinement.forms.run_filters import RunFilterForm
from refinement.selectors import runs
from refinement.selectors.reach_words import reach_words
from refinement.selectors.run_orders import Place


@dataclass(frozen=True, slots=True)
class Looking:
    """Where a page of the list stands, and how much room is on it.

    A step that looks further says how much is left: as much as on a whole page while nothing was found, and
    less where its lines are put under those that are there.
    """

    place: Place | None
    room: int
    nothing_before: bool  # no run that passes comes before this page
    under_others: bool

    def links(self, page: runs.RunsPage, form: RunFilterForm) -> dict[str, str]:
        """Where the list goes on, for a reader, and for the page by itself if it does that."""
        if page.following is None:
            return {"following": "", "further": "", "reach": ""}
        after, left = str(page.following), str(self.room - len(page.numbers))
        found = self.under_others or bool(page.numbers)
        at_first = self.nothing_before and not found
        following = form.query(after=after, room=left) if at_first else form.query(after=after)
        if page.looked_through:
            return {"following": following, "further": "", "reach": ""}
        further = form.query(after=after, room=left) if found else following
        # Of a search that found something, each step costs more than what it may find is worth.
        stays = left == "0" or (found and form.filters.words)
        reach = reach_words(form.order, page.following, upwards=form.upwards)
        return {"following": following, "further": "" if stays else further, "reach": reach}


def looking(place: Place | None, query: QueryDict) -> Looking:
    """What the address says; a room that is none is that of a whole page."""
    whole, given = runs.PAGE_SIZE, query.get("room", "")
    said = given.isascii() and given.isdigit() and len(given) < 4 and 0 < int(given) <= whole
    if place is None or not said:
        return Looking(place, whole, nothing_before=place is None, under_others=False)
    room = int(given)
    return Looking(place, room, nothing_before=room == whole, under_others=room < whole)
