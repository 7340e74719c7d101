// Exact times in the reader's own zone. Without script they stand in the server's, which is named with them.
(() => {
  "use strict";
  const exact = new Intl.DateTimeFormat(document.documentElement.lang || "en", {
    day: "numeric", month: "long", year: "numeric", hour: "2-digit", minute: "2-digit", hour12: false,
    timeZoneName: "short",
  });

  function retell(root) {
    for (const time of root.querySelectorAll("time[datetime]:not([data-zoned])")) {
      const moment = new Date(time.dateTime);
      if (Number.isNaN(moment.getTime())) continue;
      time.dataset.zoned = "";
      // Where a time is told as "2 days ago", the exact one is what pointing at it shows.
      if (time.title) time.title = exact.format(moment);
      else time.textContent = exact.format(moment);
    }
  }

  document.addEventListener("DOMContentLoaded", () => retell(document));
  document.addEventListener("htmx:load", (event) => retell(event.target.parentNode || document));
})();
