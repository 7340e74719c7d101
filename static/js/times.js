// Times and dates in the user's time zone. Without script they are in the server's, which is named.
(() => {
  "use strict";
  const DAY = 86400000;
  const SOON = 14; // days shown as relative; later ones as dates, as in refinement/templatetags/wording.py
  const language = document.documentElement.lang || "en";
  // In the server's format: 3 March 2026, 14:05 CET.
  const month = new Intl.DateTimeFormat(language, { month: "long" });
  const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" });
  const day = (moment) => `${moment.getDate()} ${month.format(moment)} ${moment.getFullYear()}`;
  const exact = (moment) => `${day(moment)}, ${clock.format(moment)}`;

  // A due date has no time zone: it is today by the user's calendar.
  function tellDue(time) {
    const now = new Date();
    const [year, number, date] = time.dateTime.split("-").map(Number);
    const left = Math.round((Date.UTC(year, number - 1, date) - Date.UTC(now.getFullYear(), now.getMonth(), now.getDate())) / DAY);
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
