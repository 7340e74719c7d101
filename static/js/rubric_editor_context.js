// The visibility table: marks and explains deviations from the preset while editing.
{
  const form = document.getElementById("rubric-editor");
  const table = form?.querySelector("[data-context]");

  const cells = () => [...table.querySelectorAll("input[data-preset]")];
  const inPreset = (cell, problemClass) => cell.dataset.preset.split(" ").includes(problemClass);
  const chosenClass = () => form.elements.problem_class.value;
  const departs = (cell, problemClass) => cell.checked !== inPreset(cell, problemClass);

  const sentence = (cell) => (cell.checked ? cell.dataset.shown : cell.dataset.withheld);

  const mark = () => {
    const found = cells().filter((cell) => departs(cell, chosenClass()));
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
    for (const cell of cells()) cell.checked = inPreset(cell, chosenClass());
    mark();
    form.dispatchEvent(new Event("editor:changed"));
  };

  if (table) {
    let before = chosenClass();
    table.addEventListener("change", mark);
    form.elements.problem_class.addEventListener("change", () => {
      // A table that equals the old class's preset becomes the new one's; a changed one is left alone.
      const untouched = cells().every((cell) => !departs(cell, before));
      before = chosenClass();
      if (untouched) toPreset();
      else mark();
      const said = untouched ? "The table shows the preset of the new class." : "The table was left as it is.";
      form.querySelector("[data-announce]").textContent = said;
    });
    form.querySelector("[data-preset-back]").addEventListener("click", (event) => {
      event.preventDefault();
      toPreset();
      form.elements.problem_class.focus();
      form.querySelector("[data-announce]").textContent = "The table shows the preset.";
    });
    mark();
  }
}
