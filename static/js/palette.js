// The command palette (Ctrl/Cmd-K) and the keyboard shortcuts (?). Without script, both are pages.
{
  const TYPING = "input, textarea, select, [contenteditable]:not([contenteditable='false'])";
  const palette = document.getElementById("palette");
  const keys = document.getElementById("keys");
  const input = document.getElementById("palette-words");
  const items = () => [...palette.querySelectorAll(".palette-item")];

  function openPalette() {
    if (palette.open) return;
    palette.showModal();
    input.select();
    htmx.trigger(input, "palette");
  }

  function openKeys() {
    if (keys.open) return;
    keys.showModal();
    htmx.trigger("#keys-page", "keys");
  }

  // The arrow keys move the focus through the field and the results.
  function move(step) {
    const stops = [input, ...items()];
    const place = Math.max(stops.indexOf(document.activeElement), 0);
    stops[(place + step + stops.length) % stops.length].focus();
  }

  document.addEventListener("click", (event) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (palette && plain && event.target.closest("[data-palette]")) {
      event.preventDefault();
      openPalette();
    } else if (plain && event.target.closest("[data-keys]")) {
      event.preventDefault();
      openKeys();
    } else if (event.target === palette || event.target === keys) event.target.close(); // the backdrop
  });

  document.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (palette && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (palette.open) palette.close();
      else if (!document.querySelector("dialog[open]")) openPalette();
      return;
    }
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest(TYPING) || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    openKeys();
  });

  palette?.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.target !== input && event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey) {
      input.focus(); // typing goes on in the field
    }
  });

  // Enter in the field opens the first result once the results belong to the words.
  palette?.querySelector(".palette-form").addEventListener("submit", (event) => {
    const first = items()[0];
    if (!first || document.getElementById("palette-results").dataset.words !== input.value) return;
    event.preventDefault();
    first.click();
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.target.id === "palette-results") event.target.dataset.words = new URLSearchParams(event.detail.pathInfo.finalRequestPath.split("?")[1]).get("q") ?? "";
  });

  // A theme is applied without leaving the page.
  palette?.addEventListener("submit", (event) => {
    if (event.target.matches("[data-theme-form]")) palette.close();
  });

  if (/Mac|iPhone|iPad/.test(navigator.platform)) {
    for (const hint of document.querySelectorAll("[data-palette-keys]")) hint.textContent = "⌘K";
  }
}
