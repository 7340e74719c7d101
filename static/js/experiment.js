// An experiment's page: the event stream says that something changed (without one, the page looks every
// second); then the page is fetched and merged into what is shown. Cells open by keyboard.
{
  const POLL_MS = 1000;
  const SLOW_MS = 5000; // after a failed request
  const HIDDEN_MS = 15000; // a hidden tab closes its connection
  const MAX_FAILURES = 5; // of the stream; then the page polls
  const page = () => document.getElementById("experiment-page");
  const live = () => document.getElementById("experiment-live");
  let source = null;
  let failures = 0;
  let timer = 0;
  let hiding = 0;
  let looking = false;

  const later = (ms) => {
    clearTimeout(timer);
    timer = setTimeout(look, ms);
  };

  // The page's address with the reader's choices; the server says nothing (204) if its mark still holds.
  const look = async () => {
    if (looking || document.hidden) return;
    if (document.querySelector("details.menu[open], dialog[open]")) return later(POLL_MS);
    looking = true;
    const asked = new URL(location.href);
    asked.searchParams.set("mark", live().dataset.mark);
    const answer = await fetch(asked, { headers: { "HX-Request": "true" }, credentials: "same-origin" }).catch(() => null);
    looking = false;
    if (answer?.redirected || answer?.status === 404 || answer?.status === 403) return location.reload();
    if (answer?.status === 200) merge(await answer.text());
    if (live().hasAttribute("data-live")) {
      // While it runs, elapsed times and figures under way change without an event.
      if (!answer?.ok) later(SLOW_MS);
      else if (!source) later(POLL_MS);
    }
  };

  // --- the stream -----------------------------------------------------------------------------------
  const close = () => {
    source?.close();
    source = null;
  };

  const open = () => {
    if (source || document.hidden || failures > MAX_FAILURES) return;
    if (!live().dataset.events) return later(POLL_MS);
    source = new EventSource(live().dataset.events);
    source.onopen = () => {
      failures = 0;
    };
    source.onerror = () => {
      close();
      failures += 1;
      setTimeout(open, failures > MAX_FAILURES ? 0 : 1000 * failures * (0.75 + Math.random() / 2));
      if (failures > MAX_FAILURES) later(POLL_MS);
    };
    source.addEventListener("changed", () => later(150 + Math.random() * 150));
    source.addEventListener("gone", () => location.reload());
  };

  const merge = (html) => {
    const parsed = new DOMParser().parseFromString(html, "text/html").getElementById("experiment-page");
    if (!parsed || !page()) return;
    Idiomorph.morph(page(), parsed, { morphStyle: "outerHTML" });
    htmx.process(page());
    mark();
  };

  // --- the open cell --------------------------------------------------------------------------------
  const panel = () => document.querySelector("#cell > .cell-panel");
  const mark = () => {
    const shown = panel()?.dataset.address;
    for (const cell of document.querySelectorAll(".heat-cell")) {
      if (shown && cell.getAttribute("href") === shown) cell.setAttribute("aria-current", "true");
      else cell.removeAttribute("aria-current");
    }
  };

  const closePanel = () => {
    const shown = document.querySelector(".heat-cell[aria-current]");
    document.getElementById("cell").replaceChildren();
    mark();
    shown?.focus();
  };

  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target.id !== "cell") return;
    mark();
    panel()?.focus({ preventScroll: matchMedia("(min-width: 75rem)").matches });
  });
  document.addEventListener("htmx:afterSettle", mark);

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-cell-close]")) return;
    event.preventDefault();
    closePanel();
  });

  // Arrow keys move between cells; J and K go through the regressions of the open cell.
  const step = (cell, across, down) => {
    const rows = [...document.querySelectorAll(".heat-table tbody tr")];
    const row = cell.closest("tr");
    const at = [...row.querySelectorAll(".heat-cell")].indexOf(cell) + across;
    const next = rows[rows.indexOf(row) + down]?.querySelectorAll(".heat-cell")[at];
    next?.focus();
    return Boolean(next);
  };
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable], dialog, details[open]")) return;
    const cell = event.target.closest(".heat-cell");
    if (cell && event.key in ARROWS && step(cell, ...ARROWS[event.key])) event.preventDefault();
    if (!panel()) return;
    if (event.key === "Escape") closePanel();
    const way = { j: "next", k: "previous" }[event.key.toLowerCase()];
    if (way) panel().querySelector(`[data-regression="${way}"]`)?.click();
  });

  if (page()) {
    mark();
    open();
    document.addEventListener("visibilitychange", () => {
      clearTimeout(hiding);
      if (document.hidden) hiding = setTimeout(close, HIDDEN_MS);
      else {
        failures = 0;
        open();
        later(0);
      }
    });
    window.addEventListener("pagehide", close);
    window.addEventListener("pageshow", (event) => event.persisted && (open(), later(0)));
  }
}
