// Unsaved rubric changes: stored in this browser, offered again later, deleted once saved.
{
  const form = document.getElementById("rubric-editor");
  const SKIPPED = ["csrfmiddlewaretoken", "draft", "try-text", "add-kind", "show"];
  const WORDS = {
    unchanged: "No changes.",
    saved: "Unsaved changes:",
    failed: "Unsaved changes, too large to keep in this browser. Save before you leave:",
  };
  const values = () => [...new FormData(form)].filter(([name]) => !SKIPPED.includes(name));
  let dirty = false;
  let leaving = false;

  // The server renders the form from the draft, as for every button that does not save.
  const restore = (draft) => {
    const copy = document.createElement("form");
    copy.method = "post";
    copy.action = form.action;
    copy.hidden = true;
    const token = form.elements.csrfmiddlewaretoken.value;
    for (const [name, value] of [...draft.values, ["draft", draft.id], ["act", "show"], ["csrfmiddlewaretoken", token]]) {
      const field = document.createElement("textarea");
      field.name = name;
      field.value = value;
      copy.append(field);
    }
    document.body.append(copy);
    leaving = true;
    copy.submit();
  };

  const offer = (draft) => {
    const older = draft.version !== form.dataset.version;
    form.querySelector("[data-draft-version]").textContent = older ? `, made on version ${draft.version}` : "";
    Drafts.offer(form, draft, { restore, focus: form.elements.name, discarded: "Unsaved changes discarded." });
  };

  // The id is sent with the form, so the server can name the draft it has saved.
  const more = () => {
    form.elements.draft.value ||= crypto.randomUUID?.() ?? `d${Date.now()}-${Math.floor(Math.random() * 1e9)}`;
    return { id: form.elements.draft.value, version: form.dataset.version };
  };

  const report = (state) => {
    dirty = state !== "unchanged";
    form.querySelector("[data-save-state]").textContent = WORDS[state];
  };

  if (form) {
    const prefix = `wiggum:rubric:${form.dataset.rubric}:`;
    if (form.dataset.saved) {
      Drafts.forget(prefix, (draft) => draft.id === form.dataset.saved);
      history.replaceState(null, "", location.pathname + location.hash);
    }
    const fresh = form.dataset.state === "fresh";
    const opened = fresh ? JSON.stringify(values()) : "";
    const save = Drafts.keep(form, { key: `${prefix}v${form.dataset.version}`, values, opened, more, report, events: ["editor:changed", "change"] });
    const waiting = Drafts.all(prefix).find((draft) => JSON.stringify(draft.values) !== opened);
    if (!fresh) save();
    else if (waiting) offer(waiting);
    form.addEventListener("submit", () => {
      save();
      leaving = true;
    });
    form.querySelector("[data-discard]").addEventListener("click", (event) => {
      event.preventDefault();
      leaving = true;
      dirty = false;
      Drafts.forget(prefix, (draft) => draft.version === form.dataset.version);
      location.assign(form.action);
    });
    window.addEventListener("beforeunload", (event) => {
      if (leaving) return;
      save();
      if (dirty) event.preventDefault();
    });
  }
}
