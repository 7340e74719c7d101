// The rubric editor: adds, removes and moves rows. Without script, the form's buttons do the same.
{
  const form = document.getElementById("rubric-editor");
  const NOUNS = { criterion: "criterion", check: "check", metric: "metric", judge: "judge", stop: "rule" };
  const changed = () => form.dispatchEvent(new Event("editor:changed"));
  const rowsOf = (list) => [...list.children].filter((row) => row.matches("[data-row]"));

  const announce = (text) => {
    form.querySelector("[data-announce]").textContent = text;
  };

  const titleOf = (row) => row.querySelector("[data-title]").textContent.trim();

  const showScript = (root) => {
    for (const part of root.querySelectorAll(".no-script")) part.hidden = true;
    for (const part of root.querySelectorAll(".with-script")) part.hidden = false;
  };

  const nameButtons = (row) => {
    for (const button of row.querySelectorAll("[data-move], [data-remove], [data-try], [data-step], [data-more]")) {
      const words = { "-1": "Less weight", 1: "More weight" }[button.dataset.step] ?? (button.matches("[data-more]") ? "More" : button.textContent.trim());
      button.setAttribute("aria-label", `${words}: ${titleOf(row)}`);
    }
  };

  // Renumber after every change: the server reads the order from the positions.
  const renumber = (list) => {
    const rows = rowsOf(list);
    rows.forEach((row, index) => {
      row.querySelector("[name$='-order']").value = String(index + 1);
      const place = row.querySelector("[data-place]");
      if (place) place.textContent = String(index + 1);
      const [up, down] = row.querySelectorAll("[data-move]");
      up.setAttribute("aria-disabled", String(index === 0));
      down.setAttribute("aria-disabled", String(index === rows.length - 1));
      nameButtons(row);
    });
    const count = form.querySelector(`[data-count="${list.dataset.rows}"]`);
    if (count) count.textContent = String(rows.length);
    if (list.dataset.rows === "criterion") offerDocked(rows);
    changed();
  };

  // Keeps the list of criteria for the penalty in sync.
  const offerDocked = (rows) => {
    const select = form.querySelector("[data-docked]");
    const chosen = select.value;
    const none = select.options[0];
    const options = rows.map((row) => {
      const number = row.id.replace("criterion-", "");
      return new Option(titleOf(row), number, false, number === chosen);
    });
    select.replaceChildren(none, ...options);
  };

  const move = (row, by) => {
    const list = row.parentElement;
    const rows = rowsOf(list);
    const from = rows.indexOf(row);
    const to = from + by;
    const noun = NOUNS[list.dataset.rows];
    if (to < 0 || to >= rows.length) {
      announce(`${titleOf(row)} is already the ${to < 0 ? "first" : "last"} ${noun}.`);
      return;
    }
    const focused = row.contains(document.activeElement) ? document.activeElement : null;
    if (by < 0) rows[to].before(row);
    else rows[to].after(row);
    renumber(list);
    focused?.focus();
    row.scrollIntoView({ block: "nearest" });
    announce(`${titleOf(row)} moved to place ${to + 1} of ${rows.length}.`);
  };

  // The highest number a row of this list has or had: a removed row may come back with its own.
  const highest = (list) => {
    const numbers = rowsOf(list).map((row) => Number(row.id.split("-").pop()));
    return Math.max(-1, ...numbers, Number(list.dataset.highest ?? -1));
  };

  // A new row at the end of the list, with these values by the last part of the field's name.
  const append = (list, values = {}) => {
    const noun = list.dataset.rows;
    const kind = form.querySelector("[name='add-kind']").value;
    const wanted = noun === "check" ? `[data-prototype="check"][data-kind="${kind}"]` : `[data-prototype="${noun}"]`;
    const number = String(highest(list) + 1);
    list.dataset.highest = number;
    const row = form.querySelector(wanted).content.firstElementChild.cloneNode(true);
    for (const part of [row, ...row.querySelectorAll("*")]) {
      for (const attribute of [...part.attributes]) {
        if (attribute.value.includes("__n__")) {
          part.setAttribute(attribute.name, attribute.value.replaceAll("__n__", number));
        }
      }
    }
    for (const top of row.querySelectorAll("[data-top]")) top.textContent = form.elements["scale-maximum"].value;
    showScript(row);
    form.dispatchEvent(new CustomEvent("editor:adding", { detail: row }));
    for (const [part, value] of Object.entries(values)) row.querySelector(`[name$='-${part}']`).value = value;
    if (values.name) row.querySelector("[data-title]").textContent = values.name;
    list.append(row);
    return row;
  };

  const add = (noun) => {
    const list = form.querySelector(`[data-rows="${noun}"]`);
    const row = append(list);
    renumber(list);
    row.querySelector("[data-names-title]").focus();
    announce(`New ${noun} added in place ${rowsOf(list).length}.`);
  };

  // Other rows instead of those in the list, which can be brought back.
  const replace = (list, entries, title) => {
    const rows = rowsOf(list);
    list.dataset.highest = String(highest(list));
    for (const row of rows) row.remove();
    for (const values of entries) append(list, values);
    renumber(list);
    form.querySelector("[data-undo]")?.remove();
    if (rows.length) offerUndo(list, `${title} was replaced.`, `${title} is back.`, () => list.replaceChildren(...rows));
    announce(`${title} has ${entries.length} rows now.`);
  };

  const remove = (row) => {
    const list = row.parentElement;
    const rows = rowsOf(list);
    const index = rows.indexOf(row);
    const title = titleOf(row);
    const next = rows[index + 1] ?? rows[index - 1];
    const { primary, docked } = form.elements;
    const was = { primary: primary.value, docked: docked.value };
    list.dataset.highest = String(highest(list));
    if (row.querySelector("[name='primary']:checked")) form.querySelector("[name='primary'][value='']").checked = true;
    row.remove();
    renumber(list);
    const back = () => {
      if (rows[index + 1]?.isConnected) rows[index + 1].before(row);
      else list.append(row);
      return row;
    };
    const undo = offerUndo(list, `${title} was removed.`, `${title} is back.`, back, () => {
      primary.value ||= was.primary;
      docked.value ||= was.docked;
    });
    (undo ?? next?.querySelector("[data-remove]") ?? form.querySelector(`[data-add="${list.dataset.rows}"]`)).focus();
    announce(`${title} was removed. Undo is available.`);
  };

  // The last removal can be undone in place. `back` returns the row to go on with, if it is not the first one.
  const offerUndo = (list, done, undone, back, asBefore = () => {}) => {
    form.querySelector("[data-undo]")?.remove();
    const note = document.createElement("p");
    note.className = "undo";
    note.dataset.undo = "";
    note.append(`${done} `);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button button-small";
    button.textContent = "Undo";
    button.addEventListener("click", () => {
      const row = back() ?? rowsOf(list)[0];
      note.remove();
      renumber(list);
      asBefore();
      changed();
      row.querySelector("[data-names-title]").focus();
      announce(undone);
    });
    note.append(button);
    list.after(note);
    return button;
  };

  const tryCheck = async (button) => {
    const box = form.querySelector("[data-try-box]");
    const text = form.querySelector("[name='try-text']");
    const target = (button.closest("[data-row]") ?? box).querySelector("[data-tried]");
    if (!text.value) {
      box.open = true;
      text.focus();
      announce("Paste a text to try the check on first.");
      return;
    }
    const data = new FormData(form);
    data.set("try", button.value);
    button.disabled = true;
    const response = await fetch(form.dataset.try, {
      method: "POST",
      body: data,
      headers: { "HX-Request": "true" },
    }).catch(() => null);
    button.disabled = false;
    if (response?.headers.has("HX-Redirect")) target.textContent = "You were signed out. Sign in in another tab, then try again.";
    else if (response?.ok) target.innerHTML = await response.text();
    else target.textContent = "The check could not be tried: the server did not respond. Try again.";
  };

  const dragging = { row: null };

  const startDragging = () => {
    form.addEventListener("pointerdown", (event) => {
      const row = event.target.closest("[data-handle]")?.closest("[data-row]");
      if (row) row.draggable = true;
    });
    form.addEventListener("dragstart", (event) => {
      if (!event.target.matches?.("[data-row]")) return;
      dragging.row = event.target;
      dragging.row.classList.add("dragged");
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", "");
    });
    form.addEventListener("dragover", (event) => {
      const over = event.target.closest("[data-row]");
      if (!dragging.row || over?.parentElement !== dragging.row.parentElement) return;
      event.preventDefault();
      const box = over.getBoundingClientRect();
      const after = event.clientY > box.top + box.height / 2;
      if (over !== dragging.row) over[after ? "after" : "before"](dragging.row);
    });
    form.addEventListener("dragend", () => {
      if (!dragging.row) return;
      const { row } = dragging;
      dragging.row = null;
      row.draggable = false;
      row.classList.remove("dragged");
      renumber(row.parentElement);
      const place = rowsOf(row.parentElement).indexOf(row) + 1;
      announce(`${titleOf(row)} moved to place ${place} of ${rowsOf(row.parentElement).length}.`);
    });
    form.addEventListener("pointerup", () => {
      for (const row of form.querySelectorAll("[draggable='true']")) if (row !== dragging.row) row.draggable = false;
    });
  };

  const onClick = (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const row = button.closest("[data-row]");
    if (button.dataset.move) move(row, Number(button.dataset.move));
    else if (button.matches("[data-remove]")) remove(row);
    else if (button.dataset.add) add(button.dataset.add);
    else if (button.matches("[data-try]")) tryCheck(button);
    else if (button.matches("[data-expand]")) expand(button);
    else if (button.matches("[data-copy-default]")) copyDefault(button.closest("[data-template]"));
    else return;
    event.preventDefault();
  };

  const onKey = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit(form.querySelector(".save-bar [value='save']"));
      return;
    }
    if (!event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
    const row = event.target.closest("[data-row]");
    if (!row || event.target.matches("select")) return;
    event.preventDefault();
    move(row, event.key === "ArrowUp" ? -1 : 1);
  };

  const expand = (button) => {
    const topics = [...form.querySelectorAll("details.topic")];
    const open = topics.some((topic) => !topic.open);
    for (const topic of topics) topic.open = open;
    button.textContent = open ? "Collapse all" : "Expand all";
  };

  const copyDefault = (part) => {
    const own = part.querySelector("[data-own] textarea");
    if (!own.value.trim()) own.value = part.querySelector("[data-default-source]").textContent;
    part.querySelector("[data-default-switch]").checked = false;
    showTemplates();
    own.focus();
    changed();
  };

  const showTemplates = () => {
    for (const part of form.querySelectorAll("[data-template]")) {
      part.querySelector("[data-own]").hidden = part.querySelector("[data-default-switch]").checked;
    }
  };

  const onInput = (event) => {
    if (event.target.matches("[data-names-title]")) {
      const row = event.target.closest("[data-row]");
      row.querySelector("[data-title]").textContent = event.target.value || `New ${row.dataset.row}`;
      nameButtons(row);
      suggestKey(row, event.target);
      if (row.dataset.row === "criterion") offerDocked(rowsOf(row.parentElement));
    }
    if (event.target.matches("[data-default-switch]")) showTemplates();
    const end = { "scale-maximum": "[data-top]", "scale-minimum": "[data-bottom]" }[event.target.name];
    if (end) for (const part of form.querySelectorAll(end)) part.textContent = event.target.value;
    changed();
  };

  // A new criterion gets its key from its name, until a key is typed.
  const suggestKey = (row, named) => {
    const key = row.querySelector("[name$='-key']");
    const isNew = row.querySelector("[name$='-was']")?.value === "";
    if (!isNew || key === named || key.dataset.typed) return;
    key.value = named.value.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60);
  };

  if (form) {
    showScript(form);
    showTemplates();
    for (const list of form.querySelectorAll("[data-rows]")) renumber(list);
    form.addEventListener("click", onClick);
    form.addEventListener("keydown", onKey);
    form.addEventListener("input", onInput);
    form.addEventListener("editor:replace", ({ detail }) => replace(detail.list, detail.entries, detail.title));
    form.addEventListener("input", (event) => {
      if (event.target.name?.endsWith("-key")) event.target.dataset.typed = "yes";
    });
    startDragging();
    form.querySelector("[data-focus]")?.focus();
  }
}
