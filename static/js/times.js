// Times and dates in the time zone that the user chose, or else in the browser's. Without script and without a
// choice they are in the server's, which is named.
(() => {
  "use strict";
  const DAY = 86400000;
  const SOON = 14; // days shown as relative; later ones as dates, as in refinement/templatetags/wording.py
  const language = document.documentElement.lang || "en";
  // In the server's format: 3 March 2026, 14:05 CET.
  const timeZone = document.documentElement.dataset.timeZone || undefined;
  const date = new Intl.DateTimeFormat(language, { day: "numeric", month: "long", year: "numeric", timeZone });
  const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short", timeZone });
  const today = new Intl.DateTimeFormat("en-CA", { year: "numeric", month: "2-digit", day: "2-digit", timeZone });

  function day(moment) {
    const parts = Object.fromEntries(date.formatToParts(moment).map((part) => [part.type, part.value]));
    return `${parts.day} ${parts.month} ${parts.year}`;
  }
  const exact = (moment) => `${day(moment)}, ${clock.format(moment)}`;

  // A due date has no time zone: it is today by the user's calendar.
  function tellDue(time) {
    const [here, due] = [today.format(new Date()), time.dateTime].map((text) => Date.parse(`${text}T00:00:00Z`));
    const left = Math.round((due - here) / DAY);
    time.classList.toggle("chip-bad", left < 0);
    time.classList.toggle("chip-warn", left === 0);
    if (left < 0) time.textContent = `overdue by ${-left} day${left === -1 ? "" : "s"}`;
    else if (left > SOON) time.textContent = `due ${time.title}`;
    else time.textContent = ["due today", "due tomorrow"][left] ?? `due in ${left} days`;
  }

  function tell(time) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) return;
    if ("day" in time.dataset) time.textContent = day(moment);
    // The tooltip of a relative time is the exact one.
    if (time.title) time.title = exact(moment);
    else time.textContent = exact(moment);
  }

  function retell(root) {
    for (const time of root.querySelectorAll("time[datetime]:not([data-zoned])")) {
      if ("due" in time.dataset) tellDue(time);
      else tell(time);
      time.dataset.zoned = "";
    }
  }

  document.addEventListener("DOMContentLoaded", () => retell(document));
  document.addEventListener("htmx:load", (event) => retell(event.target.parentNode || document));
})();
