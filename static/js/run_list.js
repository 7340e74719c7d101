// The run list: select all, a count of selected runs, and "/" for search. The list works without script.
const results = () => document.getElementById("run-results");
const boxes = () => [...document.querySelectorAll('#run-results input[name="run"]')];

function tell() {
  const all = document.getElementById("choose-all");
  if (!all) return;
  const every = boxes();
  const ticked = every.filter((box) => box.checked).length;
  all.hidden = false;
  all.checked = ticked > 0 && ticked === every.length;
  all.indeterminate = ticked > 0 && ticked < every.length;
  const count = document.getElementById("chosen-count");
  count.hidden = ticked === 0;
  count.textContent = `${ticked} chosen`;
  results().querySelector(".choose-link").hidden = ticked > 0;
  for (const button of results().querySelectorAll("#bulk button")) button.disabled = ticked === 0;
}

function tick(checked) {
  for (const box of boxes()) box.checked = checked;
  tell();
}

document.addEventListener("change", (event) => {
  if (event.target.id === "choose-all") tick(event.target.checked);
  else if (event.target.name === "run") tell();
});

document.addEventListener("click", (event) => {
  if (!event.target.closest(".choose-link")) return;
  event.preventDefault();
  tick(true);
});

// Shift selects all boxes in between.
let last = null;
document.addEventListener("click", (event) => {
  const box = event.target.closest('#run-results input[name="run"]');
  if (!box) return;
  const every = boxes();
  if (event.shiftKey && last && every.includes(last)) {
    const [from, to] = [every.indexOf(last), every.indexOf(box)].sort((a, b) => a - b);
    for (const between of every.slice(from, to + 1)) between.checked = box.checked;
    tell();
  }
  last = box;
});

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const search = document.getElementById("filter-q");
  if (!search) return;
  event.preventDefault();
  search.focus();
});

// A page restored from the back/forward cache keeps its selected boxes.
window.addEventListener("pageshow", tell);
document.addEventListener("htmx:afterSettle", tell);
tell();
