// The run list: selecting, and keys. The list works without script.
(() => {
  "use strict";
  const FEWEST = 2; // runs that can be compared
  const MOST = 5;
  const results = () => document.getElementById("run-results");
  const boxes = () => [...document.querySelectorAll('#run-lines input[name="run"]')];

  function tell() {
    const all = document.getElementById("choose-all");
    if (!all) return;
    const every = boxes();
    const ticked = every.filter((box) => box.checked).length;
    all.hidden = false;
    all.checked = ticked > 0 && ticked === every.length;
    all.indeterminate = ticked > 0 && ticked < every.length;
    results().querySelector(".choose-link").hidden = true;
    document.getElementById("chosen-count").textContent = `${ticked} selected`;
    const compare = results().querySelector('#bulk [value="compare"]');
    compare.disabled = ticked < FEWEST || ticked > MOST;
  }

  function tick(checked) {
    for (const box of boxes()) box.checked = checked;
    tell();
  }

  document.addEventListener("change", (event) => {
    if (event.target.id === "choose-all") tick(event.target.checked);
    else if (event.target.name === "run") tell();
  });

  // Shift selects all boxes in between.
  let last = null;
  document.addEventListener("click", (event) => {
    if (event.target.closest("#choose-none")) {
      event.preventDefault();
      tick(false);
    }
    const box = event.target.closest('#run-lines input[name="run"]');
    if (!box) return;
    const every = boxes();
    if (event.shiftKey && last && every.includes(last)) {
      const [from, to] = [every.indexOf(last), every.indexOf(box)].sort((a, b) => a - b);
      for (const between of every.slice(from, to + 1)) between.checked = box.checked;
      tell();
    }
    last = box;
  });

  // J and K move the focus from title to title, so that Enter opens the run without more ado.
  function move(step) {
    const titles = [...document.querySelectorAll("#run-lines .title > div > a:first-child")];
    const row = document.activeElement.closest("#run-lines tr");
    const at = titles.findIndex((title) => title.closest("tr") === row);
    const next = titles[at < 0 ? 0 : Math.min(Math.max(at + step, 0), titles.length - 1)];
    if (!next) return;
    next.focus({ focusVisible: true });
    next.scrollIntoView({ block: "nearest" });
  }

  function toggle() {
    const box = document.activeElement.closest("#run-lines tr")?.querySelector('input[name="run"]');
    if (!box) return;
    box.checked = !box.checked;
    last = box;
    tell();
  }

  function openFilters() {
    const menu = results().querySelector(".filter-menu");
    if (!menu) return;
    menu.open = true;
    menu.querySelector("select").focus();
  }

  const KEYS = {
    "/": () => document.getElementById("filter-q")?.focus(),
    j: () => move(1),
    k: () => move(-1),
    x: toggle,
    f: openFilters,
    n: () => document.getElementById("new-run")?.click(),
    Escape: () => document.querySelector("details.menu[open]") || tick(false),
  };

  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input, textarea, select, [contenteditable], dialog");
    const typing = field && field.type !== "checkbox";
    if (typing || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    if (event.key !== "Escape") event.preventDefault();
    act();
  }, true);

  // A page restored from the back/forward cache keeps its selected boxes.
  window.addEventListener("pageshow", tell);
  document.addEventListener("htmx:afterSettle", tell);
  tell();
})();
