// Drafts: form input saved in this browser until the server has it.
const Drafts = (() => {
  const WAIT_MS = 300;

  const read = (key) => {
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
    }
  };

  const all = (prefix) =>
    Object.keys(localStorage)
      .filter((key) => key.startsWith(prefix))
      .map((key) => ({ ...read(key), key }))
      .filter((draft) => draft.values)
      .sort((a, b) => b.at - a.at);

  const forget = (prefix, isDone) => {
    for (const draft of all(prefix)) if (isDone(draft)) localStorage.removeItem(draft.key);
  };

  // Saves `values()` whenever they change, unless they equal `opened`. Calls `report` with "unchanged", "saved" or "failed";
  // `more` adds to what is saved. Returns a function that saves immediately.
  const keep = (form, { key, values, opened = JSON.stringify(values()), more = () => ({}), report = () => {}, events = ["input", "change"] }) => {
    let timer = 0;
    let saved = false;
    const save = (extra = {}) => {
      clearTimeout(timer);
      timer = 0;
      const now = values();
      if (JSON.stringify(now) === opened) {
        if (saved) localStorage.removeItem(key);
        report("unchanged");
        return;
      }
      try {
        localStorage.setItem(key, JSON.stringify({ at: Date.now(), values: now, ...more(), ...extra }));
        saved = true;
        report("saved");
      } catch {
        report("failed");
      }
    };
    const changed = () => {
      clearTimeout(timer);
      timer = setTimeout(save, WAIT_MS);
    };
    for (const name of events) form.addEventListener(name, changed);
    window.addEventListener("pagehide", () => timer && save());
    return save;
  };

  // Shows a box that offers a draft; its buttons restore or delete it.
  const offer = (form, draft, { restore, focus, restored = "", discarded }) => {
    const box = form.querySelector("[data-draft-offer]");
    const at = new Date(draft.at);
    const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    const today = at.toDateString() === new Date().toDateString();
    box.querySelector("[data-draft-time]").textContent = today ? time : `${at.toLocaleDateString()}, ${time}`;
    const on = (name, work, announcement) =>
      box.querySelector(`[data-draft-${name}]`).addEventListener("click", () => {
        work();
        box.hidden = true;
        form.querySelector("[data-announce]").textContent = announcement;
        focus.focus();
      });
    on("restore", () => restore(draft), restored);
    on("discard", () => localStorage.removeItem(draft.key), discarded);
    box.hidden = false;
  };

  return { all, forget, keep, offer };
})();
