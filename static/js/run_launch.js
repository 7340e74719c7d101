// The launch form: live estimate, Ctrl+Enter, no duplicate launches, and a draft.
{
  const form = document.getElementById("launch-form");
  const WAIT = 350;
  const KEPT = ["task", "start", "seed", "seed_run", "rubric", "version", "producer", "producer_typed", "judge", "judge_typed", "judges", "clerk", "clerk_typed", "title", "task_type", "tags", "repeats", "rounds", "threshold", "tokens", "seconds", "calls", "judge_limit", "source_limit", "producer_tokens", "temperature", "output_contract", "background", "search_space"];
  let sent = false;
  let timer = 0;
  let save = null;
  const button = () => form.querySelector("[data-launch]");
  const label = () => form.querySelector("#launch-label");

  // --- the estimate ---------------------------------------------------------------------------------
  const countTexts = () => {
    form.elements.task_chars.value = form.elements.task.value.length;
    const file = form.elements.seed_file.files[0];
    const fromFile = form.elements.start.value === "file";
    form.elements.seed_chars.value = fromFile ? (file?.size ?? 0) : form.elements.seed.value.length;
    const pasted = [...form.querySelectorAll("[name=source_text]")].map((area) => area.value.length);
    const uploaded = [...form.elements.source_files.files].map((chosen) => chosen.size);
    form.elements.source_chars.value = [...pasted, ...uploaded].filter(Boolean).join(",");
  };

  const estimate = () => {
    countTexts();
    window.htmx?.trigger("#launch-estimate", "launch:changed");
  };

  const showLabels = () => {
    const [title, tags] = [form.elements.title.value.trim(), form.elements.tags.value.trim()];
    form.querySelector("[data-labels]").textContent = `${title || "Title is made from the task"}, ${tags || "no tags"}`;
  };

  // A button sets a field, such as a judge of another family, or both models.
  const onUse = (event) => {
    const button = event.target.closest("[data-use]");
    if (!button) return;
    const [name, value] = button.value.split(/=(.*)/s);
    const fields = (name === "models" ? ["producer", "judge"] : [name]).map((each) => form.elements[each]);
    if (fields.some((field) => ![...field.options].some((option) => option.value === value))) return;
    event.preventDefault();
    for (const field of fields) {
      field.value = value;
      if (form.elements[`${field.name}_typed`]) form.elements[`${field.name}_typed`].value = "";
    }
    fields[0].dispatchEvent(new Event("change", { bubbles: true }));
    fields[0].focus();
  };

  // --- the draft --------------------------------------------------------------------------------------
  const values = () => Object.fromEntries(KEPT.map((name) => [name, form.elements[name]?.value ?? ""]));

  const restore = (draft) => {
    for (const [name, value] of Object.entries(draft.values)) {
      const field = form.elements[name];
      if (!field) continue;
      if (field.options && ![...field.options].some((option) => option.value === value)) {
        if (!value || name === "rubric" || name === "version") continue;
        field.append(new Option(`${value} (not available right now)`, value));
      }
      field.value = value;
      const folded = value && field.closest?.("details");
      if (folded) folded.open = true;
    }
    estimate();
  };

  // --- sending ----------------------------------------------------------------------------------------
  const onSubmit = (event) => {
    if (sent) {
      event.preventDefault();
      return;
    }
    const launches = !event.submitter?.hasAttribute("formaction");
    // The run's page deletes the draft. If the launch fails, the draft is kept.
    save({ launched: launches });
    sent = true;
    if (launches) {
      button().setAttribute("aria-disabled", "true");
      label().textContent = "Launching …";
    }
  };

  const ready = () => {
    sent = false;
    button().removeAttribute("aria-disabled");
    if (label().textContent.startsWith("Launching")) label().textContent = "Launch";
  };

  const start = () => {
    const key = `wiggum:launch:${form.dataset.draft}`;
    const draft = Drafts.all(key).find((found) => found.key === key);
    if (draft && form.dataset.state !== "typed" && JSON.stringify(draft.values) !== JSON.stringify(values())) {
      Drafts.offer(form, draft, { restore, focus: form.elements.task, restored: "Draft restored.", discarded: "Draft discarded." });
    }
    save = Drafts.keep(form, { key, values });
    const changed = () => {
      clearTimeout(timer);
      timer = setTimeout(estimate, WAIT);
    };
    form.addEventListener("input", changed);
    form.addEventListener("change", changed);
    form.elements.seed_file.addEventListener("change", () => {
      if (form.elements.seed_file.files.length) form.elements.start.value = "file";
    });
    form.elements.title.addEventListener("input", showLabels);
    form.elements.tags.addEventListener("input", showLabels);
    form.addEventListener("click", onUse);
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
