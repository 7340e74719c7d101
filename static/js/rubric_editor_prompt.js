// The prompt beside the editor: marks the passages that come from the field or row being edited.
{
  const form = document.getElementById("rubric-editor");
  const SHORTEST = 3;

  const texts = () => {
    const field = document.activeElement;
    if (!form.contains(field) || field.name === "note") return [];
    const row = field.closest("[data-row='criterion'], [data-row='judge']");
    const fields = row ? row.querySelectorAll("input:not([type]), textarea") : [field];
    return [...fields].map((entry) => entry.value?.trim() ?? "").filter((text) => text.length >= SHORTEST);
  };

  const mark = () => {
    const wanted = texts();
    let first = null;
    for (const part of form.querySelectorAll("#prompt [data-part]:not(.part-words)")) {
      const text = part.textContent.trim();
      const hot = wanted.some((entry) => text === entry);
      part.classList.toggle("hot", hot);
      if (hot) first ??= part;
    }
    const box = form.querySelector(".prompt-text");
    if (first && box) box.scrollTop = first.offsetTop - box.offsetTop - box.clientHeight / 3;
  };

  if (form) {
    form.addEventListener("focusin", mark);
    document.addEventListener("htmx:afterSwap", mark);
  }
}
