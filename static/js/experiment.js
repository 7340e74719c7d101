// An experiment's page: looks every second whether there is news while it runs, and opens cells by keyboard.
{
  const POLL_MS = 1000;
  const SLOW_MS = 5000; // after a failed request
  const page = () => document.getElementById("experiment-page");
  const live = () => document.getElementById("experiment-live");
  const later = (ms) => setTimeout(look, ms);

  // The page's address with the reader's choices; the server says nothing (204) if its mark still holds.
  const look = async () => {
    if (!live()?.hasAttribute("data-live")) return;
    if (document.hidden || document.querySelector("details.menu[open], dialog[open]")) return later(POLL_MS);
    const asked = new URL(location.href);
    asked.searchParams.set("mark", live().dataset.mark);
    const answer = await fetch(asked, { headers: { "HX-Request": "true" }, credentials: "same-origin" }).catch(() => null);
    if (answer?.redirected || answer?.status === 404 || answer?.status === 403) return location.reload();
    if (answer?.status === 200) merge(await answer.text());
    later(answer?.ok ? POLL_MS : SLOW_MS);
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
    const open = panel()?.dataset.address;
    for (const cell of document.querySelectorAll(".heat-cell")) {
      if (open && cell.getAttribute("href") === open) cell.setAttribute("aria-current", "true");
      else cell.removeAttribute("aria-current");
    }
  };

  const close = () => {
    const open = document.querySelector(".heat-cell[aria-current]");
    document.getElementById("cell").replaceChildren();
    mark();
    open?.focus();
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
    close();
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
    if (event.key === "Escape") close();
    const way = { j: "next", k: "previous" }[event.key.toLowerCase()];
    if (way) panel().querySelector(`[data-regression="${way}"]`)?.click();
  });

  if (page()) {
    mark();
    later(POLL_MS);
    window.addEventListener("pageshow", (event) => event.persisted && look());
  }
}
