// The scoring page: saves a draft until submitted, and leads from score to score by keyboard.
{
  const PREFIX = "wiggum:score:";
  const form = document.getElementById("score-form");
  const fields = () => [...form.elements].filter((field) => field.name && !["csrfmiddlewaretoken", "version"].includes(field.name) && field.type !== "submit");

  const say = (words) => {
    const place = form.querySelector("[data-draft-words]");
    place.textContent = words;
    place.hidden = !words;
  };

  const restore = (key) => {
    // A form returned with errors is newer than any draft.
    if (form.querySelector("[aria-invalid]") || document.querySelector(".score-card [role=alert]")) return;
    const draft = Drafts.all(key).find((found) => found.key === key)?.values ?? {};
    const changed = fields().filter((field) => field.name in draft && draft[field.name] !== field.value);
    for (const field of changed) field.value = draft[field.name];
    if (changed.length) say("Restored your draft. It is not submitted yet.");
  };

  // The server names the round or text whose score it saved.
  const forgetScored = () => {
    const page = new URL(location.href);
    const number = page.searchParams.get("scored");
    if (!number) return;
    // A text of a label set has its draft under `labels5:12`, a round under `5:12`.
    const [, kind, id] = page.pathname.match(/\/(runs|labels)\/(\d+)\//) ?? [];
    Drafts.forget(PREFIX, (draft) => draft.key.endsWith(`:${kind === "labels" ? kind : ""}${id}:${number}`));
    page.searchParams.delete("scored");
    history.replaceState(history.state, "", page);
  };

  forgetScored();
  if (form) {
    const key = PREFIX + form.dataset.draft;
    const values = () => Object.fromEntries(fields().map((field) => [field.name, field.value]));
    const opened = JSON.stringify(values());
    restore(key);
    const report = (state) => state === "failed" && say("Your draft is too large to keep in this browser: submit before you leave.");
    const save = Drafts.keep(form, { key, values, opened, report });
    form.addEventListener("submit", () => save());
    // A press on a button would take the focus, fold the criterion, and move the button away from the pointer.
    form.querySelector(".form-actions").addEventListener("mousedown", (event) => event.preventDefault());
    // Typing in a score replaces it.
    form.addEventListener("focusin", (event) => event.target.type === "number" && event.target.select());
    // A score that the scale does not have is refused before the next field.
    form.addEventListener("keydown", (event) => {
      if (!["Enter", "Tab"].includes(event.key) || event.shiftKey || event.target.type !== "number") return;
      if (event.target.validity.valid || event.target.validity.valueMissing) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      event.target.reportValidity();
      event.target.select();
    });
    // Enter goes to the next score, and from the last one saves.
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.target.type !== "number" || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      const scores = [...form.querySelectorAll("[type=number]")];
      const next = scores[scores.indexOf(event.target) + 1] ?? scores.find((field) => !field.value);
      if (next) next.focus();
      else form.requestSubmit(form.querySelector("[type=submit]"));
    });
    if (!form.querySelector("[aria-invalid]")) form.querySelector("[type=number]")?.focus({ preventScroll: true });
  }
}
