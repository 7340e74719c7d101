// The launch form: an estimate that follows what is typed, Ctrl-Enter, one launch for one press, a draft that stays.
{
  const form = document.getElementById("launch-form");
  const WAIT = 350;
  const KEPT = ["task", "start", "seed", "rubric", "version", "producer", "producer_typed", "judge", "judge_typed", "tags", "repeats", "rounds", "threshold", "tokens", "seconds", "calls", "judge_limit", "producer_tokens", "temperature"];
  const state = { timer: 0, sent: false, opened: "" };
  const draftKey = () => `wiggum:launch:${form.dataset.draft}`;
  const button = () => form.querySelector("[data-launch]");

  // --- the estimate ---------------------------------------------------------------------------------
  const countTexts = () => {
    form.elements.task_chars.value = form.elements.task.value.length;
    const file = form.elements.seed_file.files[0];
    const fromFile = form.elements.start.value === "file";
    form.elements.seed_chars.value = fromFile ? (file?.size ?? 0) : form.elements.seed.value.length;
  };

  const estimate = () => {
    countTexts();
    window.htmx?.trigger("#launch-estimate", "launch:changed");
  };

  // --- the draft --------------------------------------------------------------------------------------
  const values = () => Object.fromEntries(KEPT.map((name) => [name, form.elements[name]?.value ?? ""]));

  const stored = () => {
    try {
      return JSON.parse(localStorage.getItem(draftKey()));
    } catch {
      return null;
    }
  };

  const keep = (more = {}) => {
    const now = values();
    if (JSON.stringify(now) === state.opened) return;
    try {
      localStorage.setItem(draftKey(), JSON.stringify({ at: Date.now(), values: now, ...more }));
    } catch {
      // A text too large for the browser's store is kept by the page alone.
    }
  };

  const restore = (draft) => {
    for (const [name, value] of Object.entries(draft.values)) {
      const field = form.elements[name];
      if (!field) continue;
      if (field.options && ![...field.options].some((option) => option.value === value)) {
        if (!value || name === "rubric" || name === "version") continue;
        field.append(new Option(`${value} (not offered at the moment)`, value));
      }
      field.value = value;
      // What counts is in sight.
      const folded = value && field.closest?.("details");
      if (folded) folded.open = true;
    }
    estimate();
  };

  const offer = (draft) => {
    const box = form.querySelector("[data-draft-offer]");
    const at = new Date(draft.at);
    const today = at.toDateString() === new Date().toDateString();
    const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    box.querySelector("[data-draft-time]").textContent = today ? time : `${at.toLocaleDateString()}, ${time}`;
    const answer = (work, words) => () => {
      work();
      box.hidden = true;
      form.querySelector("[data-announce]").textContent = words;
      form.elements.task.focus();
    };
    box.querySelector("[data-draft-restore]").addEventListener("click", answer(() => restore(draft), "What you had typed is back."));
    box.querySelector("[data-draft-discard]").addEventListener("click", answer(() => localStorage.removeItem(draftKey()), "What you had typed is forgotten."));
    box.hidden = false;
  };

  // --- sending ----------------------------------------------------------------------------------------
  const onSubmit = (event) => {
    if (state.sent) {
      event.preventDefault();
      return;
    }
    clearTimeout(state.timer);
    const launches = !event.submitter?.hasAttribute("formaction");
    // The page of the run forgets the draft: a launch that did not get there leaves it where it is.
    keep({ launched: launches });
    state.sent = true;
    if (launches) {
      button().setAttribute("aria-disabled", "true");
      button().textContent = "Launching …";
    }
  };

  const ready = () => {
    state.sent = false;
    button().removeAttribute("aria-disabled");
    if (button().textContent.startsWith("Launching")) button().textContent = "Launch";
  };

  const start = () => {
    const draft = stored();
    state.opened = JSON.stringify(values());
    if (draft?.values && form.dataset.state !== "typed" && JSON.stringify(draft.values) !== state.opened) offer(draft);
    const changed = () => {
      clearTimeout(state.timer);
      state.timer = setTimeout(() => {
        keep();
        estimate();
      }, WAIT);
    };
    form.addEventListener("input", changed);
    form.addEventListener("change", changed);
    form.elements.seed_file.addEventListener("change", () => {
      if (form.elements.seed_file.files.length) form.elements.start.value = "file";
    });
    form.addEventListener("submit", onSubmit);
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        form.requestSubmit(button());
      }
    });
    window.addEventListener("pageshow", ready);
    countTexts();
  };

  if (form) start();
}
