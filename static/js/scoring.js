// The page to score a round on: what is typed is kept in this browser until it is submitted, Ctrl Enter submits.
{
  const form = document.getElementById("score-form");
  const key = form && `wiggum:score:${form.dataset.draft}`;
  const NOT_KEPT = ["csrfmiddlewaretoken", "version"];
  const WAIT = 250;
  let timer = 0;

  const fields = () => [...form.elements].filter((field) => field.name && !NOT_KEPT.includes(field.name) && field.type !== "submit");

  const say = (words) => {
    const place = form.querySelector("[data-draft-words]");
    place.textContent = words;
    place.hidden = !words;
  };

  const keep = () => {
    try {
      localStorage.setItem(key, JSON.stringify(Object.fromEntries(fields().map((field) => [field.name, field.value]))));
    } catch {
      say("This browser could not keep what you type: submit before you leave.");
    }
  };

  const restore = () => {
    // What the server sent back after a refusal is newer than any draft.
    if (form.querySelector("[aria-invalid]") || document.querySelector(".score-card [role=alert]")) return;
    let draft = null;
    try {
      draft = JSON.parse(localStorage.getItem(key));
    } catch {
      // A draft that cannot be read is none.
    }
    if (!draft) return;
    const changed = fields().filter((field) => field.name in draft && draft[field.name] !== field.value);
    for (const field of changed) field.value = draft[field.name];
    if (changed.length) say("This is the draft that you typed here before. It is not submitted yet.");
  };

  // Arriving here or at the run after a score was kept: its draft has done its work.
  const forgetScored = () => {
    const page = new URL(location.href);
    const number = page.searchParams.get("scored");
    if (!number) return;
    const run = page.pathname.match(/\/runs\/(\d+)\//)?.[1];
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith("wiggum:score:") && name.endsWith(`:${run}:${number}`)) localStorage.removeItem(name);
    }
    page.searchParams.delete("scored");
    history.replaceState(history.state, "", page);
  };

  forgetScored();
  if (form) {
    restore();
    // A digit that is typed is the score, not one more digit of it.
    form.addEventListener("focusin", (event) => event.target.type === "number" && event.target.select());
    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(keep, WAIT);
    });
    window.addEventListener("pagehide", () => timer && keep());
    form.addEventListener("submit", () => {
      clearTimeout(timer);
      keep();
      timer = 0;
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      form.requestSubmit();
    });
  }
}
