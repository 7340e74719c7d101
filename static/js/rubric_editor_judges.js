// The section “Judges”: hides what has no effect, shows the price, and uses a panel of the gallery.
{
  const form = document.getElementById("rubric-editor");
  const section = form?.querySelector("[data-judges]");

  const list = () => section.querySelector("[data-rows='judge']");
  const count = () => list().children.length;
  const mode = () => form.elements["judges-mode"].value;
  const escalates = () => form.elements["policy-on_plateau"].value !== "stop";

  // The same words as on the server, in judge_words.py.
  const price = () => {
    const seats = Math.max(count() || Number(section.dataset.usual), 2);
    const calls = (form.elements["judges-deliberation"].checked ? 2 : 1) * seats + 1;
    if (mode() === "board") return `${seats} judges: ${calls} calls per round`;
    if (mode() === "auto") return `1 call per round, or ${calls} with a board of ${seats}`;
    return `1 judge: 1 call per round${escalates() ? `, ${calls} after a plateau` : ""}`;
  };

  const show = () => {
    const board = mode() !== "single" || escalates();
    for (const part of section.querySelectorAll("[data-board]")) {
      part.hidden = !board && !part.querySelector("[aria-invalid='true'], .errorlist");
    }
    section.querySelector("[data-no-panel]").hidden = count() > 0;
    section.querySelector("[data-add='judge']").disabled = count() >= Number(section.dataset.most);
    const shown = section.querySelector("[data-price]");
    if (shown.textContent !== price()) shown.textContent = price();
  };

  const usePanel = () => {
    const panels = JSON.parse(document.getElementById("panel-data").textContent);
    const entries = panels[form.elements["panel-type"].value];
    form.dispatchEvent(new CustomEvent("editor:replace", { detail: { list: list(), entries, title: "The panel" } }));
  };

  if (section) {
    form.addEventListener("editor:changed", show);
    section.addEventListener("change", (event) => {
      if (event.target.name === "judges-mode" && mode() !== "single") section.querySelector("#panel").open = true;
    });
    section.querySelector("[data-use-panel]").addEventListener("click", (event) => {
      event.preventDefault();
      usePanel();
    });
    show();
  }
}
