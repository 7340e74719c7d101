// The visibility table: marks and explains deviations from the preset while editing.
{
  const form = document.getElementById("rubric-editor");
  const table = form?.querySelector("[data-context]");

  const cells = () => [...table.querySelectorAll("input[data-preset]")];
  const inPreset = (cell, preset) => cell.dataset.preset.split(" ").includes(preset);
  const departs = (cell, preset) => cell.checked !== inPreset(cell, preset);
  // The presence of an evaluator decides the preset.
  const applies = () => {
    const runs = form.elements["evaluator-command"].value.trim() && form.elements.evaluation_mode.value !== "judge_only";
    return runs ? "evaluator" : "plain";
  };

  const sentence = (cell) => (cell.checked ? cell.dataset.shown : cell.dataset.withheld);

  const mark = () => {
    const found = cells().filter((cell) => departs(cell, applies()));
    for (const cell of cells()) {
      const departure = found.includes(cell);
      cell.closest("td").classList.toggle("departs", departure);
      cell.closest("td").querySelector(".departure").hidden = !departure;
    }
    const list = form.querySelector("[data-departures]");
    list.hidden = found.length === 0;
    form.querySelector("[data-no-departures]").hidden = found.length > 0;
    list.querySelector("ul").replaceChildren(
      ...found.map((cell) => {
        const line = document.createElement("li");
        line.textContent = sentence(cell);
        return line;
      }),
    );
  };

  const toPreset = () => {
    for (const cell of cells()) cell.checked = inPreset(cell, applies());
    mark();
    form.dispatchEvent(new Event("editor:changed"));
  };

  if (table) {
    const shown = form.elements.preset;
    const follow = () => {
      if (shown.value === applies()) return;
      // A table that equals the old preset becomes the new one; a changed one is left alone.
      const untouched = cells().every((cell) => !departs(cell, shown.value));
      shown.value = applies();
      if (untouched) toPreset();
      else mark();
      const said = untouched ? "“Who sees what” follows the evaluator." : "“Who sees what” was left as it is.";
      form.querySelector("[data-announce]").textContent = said;
    };
    table.addEventListener("change", mark);
    form.elements.evaluation_mode.addEventListener("change", follow);
    form.elements["evaluator-command"].addEventListener("change", follow);
    form.querySelector("[data-preset-back]").addEventListener("click", (event) => {
      event.preventDefault();
      toPreset();
      table.querySelector("input[data-preset]").focus();
      form.querySelector("[data-announce]").textContent = "The table shows the preset.";
    });
    mark();
  }
}
