// Keyboard shortcuts for the review queue; inactive while typing.
{
  const TYPING = "input, textarea, select, [contenteditable]:not([contenteditable='false'])";
  const dialog = () => document.getElementById("review-keys");

  const help = () => {
    const box = dialog();
    if (box && !box.open) box.showModal();
  };

  // The field for a comment on the run, opened if it is collapsed.
  const comment = () => {
    const place = document.querySelector("#talk-new textarea[name=body]");
    if (!place) return false;
    for (let around = place.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
    place.scrollIntoView({ block: "center" });
    place.focus();
    return true;
  };

  const press = (key) => {
    const control = document.querySelector(`[data-review-key="${key}"]`);
    control?.click();
    return Boolean(control);
  };

  document.addEventListener("keydown", (event) => {
    if (!document.getElementById("review-bar")) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
    if (event.target.closest?.(TYPING) || document.querySelector("dialog[open]")) return;
    let done = false;
    if (event.key === "c") done = comment();
    else if (["j", "k", "s", "d"].includes(event.key)) done = press(event.key);
    if (done) event.preventDefault();
  });

  for (const button of document.querySelectorAll("[data-review-help]")) {
    button.hidden = false;
    button.addEventListener("click", help);
  }

  // The open round is the one to score, even after it changed.
  document.addEventListener("htmx:afterSettle", () => {
    const link = document.querySelector('[data-review-key="s"]');
    const open = document.querySelector("#run-rounds [aria-current='true']");
    const number = open?.getAttribute("href").match(/\/rounds\/(\d+)\//)?.[1];
    if (link && number) link.href = link.getAttribute("href").replace(/\/score\/\d+\//, `/score/${number}/`);
  });
}
