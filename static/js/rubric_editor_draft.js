// Unsaved changes: kept in this browser while they are typed, offered back, forgotten once they are saved.
{
  const form = document.getElementById("rubric-editor");
  const WAIT = 300;
  const NOT_KEPT = ["csrfmiddlewaretoken", "draft", "try-text", "add-kind"];

  const prefix = () => `wiggum:rubric:${form.dataset.rubric}:`;
  const key = () => `${prefix()}v${form.dataset.version}`;
  const entries = () => [...new FormData(form)].filter(([name]) => !NOT_KEPT.includes(name));

  const stored = (name) => {
    try {
      return JSON.parse(localStorage.getItem(name));
    } catch {
      return null;
    }
  };

  const drafts = () =>
    Object.keys(localStorage)
      .filter((name) => name.startsWith(prefix()))
      .map((name) => ({ name, ...stored(name) }))
      .filter((draft) => Array.isArray(draft.entries))
      .sort((a, b) => b.at - a.at);

  const state = { asOpened: "", dirty: false, leaving: false, timer: 0 };

  const say = (text) => {
    form.querySelector("[data-save-state]").textContent = text;
  };

  const keep = () => {
    const now = JSON.stringify(entries());
    state.dirty = now !== state.asOpened;
    if (!state.dirty) {
      if (form.elements.draft.value) localStorage.removeItem(key());
      say("No changes.");
      return;
    }
    form.elements.draft.value ||= crypto.randomUUID?.() ?? `d${Date.now()}-${Math.floor(Math.random() * 1e9)}`;
    const draft = { at: Date.now(), id: form.elements.draft.value, version: form.dataset.version, entries: JSON.parse(now) };
    try {
      localStorage.setItem(key(), JSON.stringify(draft));
      say("Unsaved changes, kept in this browser.");
    } catch {
      say("Unsaved changes. They are too large for this browser to keep: save before you leave.");
    }
  };

  const restore = (draft) => {
    // The server lays the form out again from what was typed, as it does for every button that does not save.
    const copy = document.createElement("form");
    copy.method = "post";
    copy.action = form.action;
    copy.hidden = true;
    const token = form.elements.csrfmiddlewaretoken.value;
    for (const [name, value] of [...draft.entries, ["draft", draft.id], ["act", "show"], ["csrfmiddlewaretoken", token]]) {
      const field = document.createElement("textarea");
      field.name = name;
      field.value = value;
      copy.append(field);
    }
    document.body.append(copy);
    state.leaving = true;
    copy.submit();
  };

  const offer = (draft) => {
    const box = form.querySelector("[data-draft-offer]");
    const at = new Date(draft.at);
    const today = at.toDateString() === new Date().toDateString();
    const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    box.querySelector("[data-draft-time]").textContent = today ? time : `${at.toLocaleDateString()}, ${time}`;
    const older = draft.version !== form.dataset.version;
    box.querySelector("[data-draft-version]").textContent = older ? `, made on version ${draft.version}` : "";
    box.querySelector("[data-draft-restore]").addEventListener("click", () => restore(draft));
    box.querySelector("[data-draft-discard]").addEventListener("click", () => {
      localStorage.removeItem(draft.name);
      box.hidden = true;
      form.querySelector("[data-announce]").textContent = "The unsaved changes were discarded.";
      form.elements.name.focus();
    });
    box.hidden = false;
  };

  const forgetSaved = () => {
    if (!form.dataset.saved) return;
    for (const draft of drafts()) if (draft.id === form.dataset.saved) localStorage.removeItem(draft.name);
    history.replaceState(null, "", location.pathname + location.hash);
  };

  const start = () => {
    forgetSaved();
    const fresh = form.dataset.state === "fresh";
    state.asOpened = fresh ? JSON.stringify(entries()) : "";
    if (!fresh) keep();
    const waiting = drafts().find((draft) => JSON.stringify(draft.entries) !== state.asOpened);
    if (fresh && waiting) offer(waiting);
    const later = () => {
      clearTimeout(state.timer);
      state.timer = setTimeout(keep, WAIT);
    };
    form.addEventListener("editor:changed", later);
    form.addEventListener("change", later);
    form.addEventListener("submit", () => {
      clearTimeout(state.timer);
      keep();
      state.leaving = true;
    });
    window.addEventListener("pagehide", keep);
    window.addEventListener("beforeunload", (event) => {
      clearTimeout(state.timer);
      if (!state.leaving) keep();
      if (state.dirty && !state.leaving) event.preventDefault();
    });
  };

  if (form) start();
}
