// The table editor of a suite: adds, copies, moves and removes rows. Without script, the form's buttons do the same.
{
  const form = document.getElementById("suite-editor");
  const list = form.querySelector("[data-rows]");
  const rows = () => [...list.querySelectorAll("[data-row]")];
  const titleOf = (row) => row.querySelector("[data-title]").value.trim() || row.querySelector("[name$='-was']").value || "New task";
  let highest = Math.max(0, ...rows().map((row) => Number(row.id.split("-").pop())));
  let leaving = false;

  const announce = (text) => {
    form.querySelector("[data-announce]").textContent = text;
  };

  const showScript = (root) => {
    for (const part of root.querySelectorAll(".no-script")) part.hidden = true;
    for (const part of root.querySelectorAll(".with-script")) part.hidden = false;
  };

  const values = () => JSON.stringify([...new FormData(form)].filter(([name]) => name !== "csrfmiddlewaretoken"));

  const nameButtons = (row) => {
    const title = titleOf(row);
    row.querySelector("[data-legend]").textContent = title;
    for (const button of row.querySelectorAll("button[title]")) {
      button.querySelector(".visually-hidden").textContent = `${button.title}: ${title}`;
    }
  };

  // The server reads the order from the places.
  const renumber = () => {
    const all = rows();
    all.forEach((row, index) => {
      row.querySelector("[name$='-order']").value = String(index + 1);
      row.querySelector("[data-place]").textContent = String(first + index);
      const [up, down] = row.querySelectorAll("[data-move]");
      up.setAttribute("aria-disabled", String(index === 0));
      down.setAttribute("aria-disabled", String(index === all.length - 1));
      nameButtons(row);
    });
    form.querySelector("[data-count]").textContent = String(all.length);
    changed();
  };

  const changed = () => {
    const dirty = values() !== original;
    form.querySelector("[data-discard]").hidden = !dirty;
    if (dirty !== form.hasAttribute("data-dirty")) {
      form.toggleAttribute("data-dirty", dirty);
      form.querySelector("[data-save-state]").textContent = dirty ? "Unsaved changes" : "No changes";
    }
  };

  const made = () => {
    highest += 1;
    const row = form.querySelector("[data-prototype]").content.querySelector("[data-row]").cloneNode(true);
    for (const part of [row, ...row.querySelectorAll("*")]) {
      for (const attribute of [...part.attributes]) {
        if (attribute.value.includes("__n__")) part.setAttribute(attribute.name, attribute.value.replaceAll("__n__", String(highest)));
      }
    }
    showScript(row);
    row.setAttribute("data-new", "");
    return row;
  };

  const add = () => {
    const row = made();
    list.append(row);
    renumber();
    row.querySelector("[data-title]").focus();
    announce(`New task added in place ${rows().length}.`);
  };

  // A copy has no key of its own yet; its sources and checks come from the task it was copied from.
  const copy = (from) => {
    const row = made();
    const part = (root, name) => root.querySelector(`[name$='-${name}']`);
    for (const name of ["was", "title", "task_type", "tags", "task", "expected"]) {
      const source = part(from, name);
      if (source) part(row, name).value = source.value;
      else part(row, name).closest("div").replaceChildren(...[...from.querySelectorAll(`.task-${name} > p`)].map((node) => node.cloneNode(true)));
    }
    part(row, "copied").value = "1";
    const extras = from.querySelector("[data-extras] .soft");
    if (extras) {
      const words = document.createElement("p");
      words.className = "small soft task-extras";
      words.textContent = extras.textContent;
      row.querySelector(".task-kinds").append(words);
    }
    from.after(row);
    renumber();
    row.querySelector("[data-title]").focus();
    announce(`${titleOf(from)} was duplicated.`);
  };

  const move = (row, by) => {
    const all = rows();
    const to = all.indexOf(row) + by;
    if (to < 0 || to >= all.length) {
      announce(`${titleOf(row)} is already the ${to < 0 ? "first" : "last"} task.`);
      return;
    }
    const focused = document.activeElement;
    if (by < 0) all[to].before(row);
    else all[to].after(row);
    renumber();
    if (row.contains(focused)) focused.focus();
    row.scrollIntoView({ block: "nearest" });
    announce(`${titleOf(row)} moved to place ${to + 1} of ${all.length}.`);
  };

  const remove = (row) => {
    const title = titleOf(row);
    form.querySelector(".task-undo")?.remove();
    const bar = document.createElement("div");
    bar.className = "task-undo small";
    const words = document.createElement("span");
    words.textContent = `${title} was removed.`;
    const undo = document.createElement("button");
    undo.type = "button";
    undo.className = "button button-small";
    undo.textContent = "Undo";
    undo.addEventListener("click", () => {
      bar.replaceWith(row);
      renumber();
      row.querySelector("[data-title]").focus();
      announce(`${title} is back.`);
    });
    bar.append(words, undo);
    row.replaceWith(bar);
    renumber();
    undo.focus();
    announce(`${title} was removed. Undo is available.`);
  };

  form.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    const row = button?.closest("[data-row]");
    if (!button) return;
    if (button.matches("[data-add]")) add();
    else if (button.matches("[data-copy]")) copy(row);
    else if (button.matches("[data-move]")) move(row, Number(button.dataset.move));
    else if (button.matches("[data-remove]")) remove(row);
    else return;
    event.preventDefault();
  });

  form.addEventListener("input", (event) => {
    if (event.target.matches("[data-title]")) nameButtons(event.target.closest("[data-row]"));
    changed();
  });

  form.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const row = event.target.closest("[data-row]");
    if (event.altKey && by && row) {
      event.preventDefault();
      move(row, by);
    }
  });

  form.addEventListener("submit", () => {
    leaving = true;
  });
  form.querySelector("[data-discard]").addEventListener("click", () => {
    leaving = true;
  });
  window.addEventListener("beforeunload", (event) => {
    if (form.hasAttribute("data-dirty") && !leaving) event.preventDefault();
  });

  const first = Number(form.dataset.first);
  showScript(form);
  const original = form.dataset.fresh ? values() : "";
  renumber();
}
