// The criteria's shares of the score: as text, as a bar, and with buttons that change a weight by one.
{
  const form = document.getElementById("rubric-editor");
  const COLOURS = 6;
  const weights = () => [...form.querySelectorAll("[data-rows='criterion'] [data-weight]")];
  const sound = (field) => /^\+?(\d+\.?\d*|\.\d+)$/.test(field.value.trim()) && Number(field.value) > 0;
  const colour = (place) => `series-${(place % COLOURS) + 1}`;

  const show = () => {
    const equal = form.elements["policy-composite"].value !== "weighted_mean";
    document.getElementById("criteria").classList.toggle("plain-mean", equal);
    const values = weights().map((field) => (sound(field) ? (equal ? 1 : Number(field.value)) : 0));
    const sum = values.reduce((all, value) => all + value, 0) || 1;
    const bar = form.querySelector("[data-share-bar]");
    let start = 0;
    const parts = weights().map((field, place) => {
      const share = (100 * values[place]) / sum;
      field.closest(".field").querySelector("[data-share]").textContent = values[place] ? `${Math.round(share)} %` : "";
      field.closest("[data-row]").querySelector("[data-colour]").className = `swatch-dot ${colour(place)}`;
      const part = document.createElementNS(bar.namespaceURI, "rect");
      for (const [name, value] of Object.entries({ class: colour(place), x: start, width: share, height: 1 })) part.setAttribute(name, value);
      start += share;
      return part;
    });
    bar.replaceChildren(...parts);
    for (const chip of form.querySelectorAll("[data-primary-chip]")) {
      chip.hidden = !chip.closest("details").querySelector("[name='primary']").checked;
    }
  };

  // A new criterion gets the mean weight of the others.
  const usual = () => {
    const values = weights().filter(sound).map((field) => Number(field.value));
    const mean = values.reduce((all, value) => all + value, 0) / values.length;
    return values.length ? String(Math.max(1, Math.round(mean))) : "1";
  };

  if (form) {
    form.addEventListener("editor:changed", show);
    form.addEventListener("editor:adding", (event) => {
      event.detail.querySelector("[data-weight]")?.setAttribute("value", usual());
    });
    form.addEventListener("click", (event) => {
      const button = event.target.closest("[data-step]");
      if (!button) return;
      const field = button.closest(".stepper").querySelector("input");
      field.value = String(Math.max(1, Math.floor(Number(field.value) || 0) + Number(button.dataset.step)));
      form.dispatchEvent(new Event("editor:changed"));
    });
    show();
  }
}
