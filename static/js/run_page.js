// A run's page: copying the result, values at the pointer, chart download, arrow keys between rounds.
{
  // The run was launched, so delete the launch draft.
  if (document.querySelector("#run-live:not([data-status='finished'])")) Drafts.forget("wiggum:launch:", (draft) => draft.launched);

  const readout = () => document.querySelector("[data-chart-readout]");

  const show = (event) => {
    const column = event.target.closest?.(".chart-column");
    const place = readout();
    if (!column || !place) return;
    place.textContent = column.dataset.words;
  };
  document.addEventListener("pointerover", show);
  document.addEventListener("focusin", show);

  // Draws the downloaded image at twice its size, in the browser.
  const asPicture = async (address, name) => {
    const answer = await fetch(address);
    if (!answer.ok) return false;
    const picture = new Image();
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(await answer.text())}`;
    await picture.decode();
    const canvas = document.createElement("canvas");
    canvas.width = picture.naturalWidth * 2;
    canvas.height = picture.naturalHeight * 2;
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
    if (!blob) return false;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    return true;
  };

  document.addEventListener("click", async (event) => {
    const link = event.target.closest?.("[data-png]");
    if (!link) return;
    event.preventDefault();
    const done = await asPicture(link.href, link.download).catch(() => false);
    if (!done && readout()) readout().textContent = "The image could not be created. Download the SVG instead.";
  });

  // Browsers give pages a clipboard over HTTPS only; elsewhere they copy what is selected.
  const copySelected = (text) => {
    const area = document.createElement("textarea");
    area.className = "visually-hidden";
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };
  const copy = async (text) => (await navigator.clipboard?.writeText(text).then(() => true, () => false)) || copySelected(text);

  const cannotCopy = () => {
    const message = document.createElement("div");
    message.className = "message message-error";
    message.textContent = "Could not copy. Select the text and copy it.";
    document.getElementById("messages")?.replaceChildren(message);
    const text = document.getElementById("pane-text");
    if (text) getSelection().selectAllChildren(text);
  };

  document.addEventListener("click", async (event) => {
    const link = event.target.closest?.("[data-copy-text]");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const words = link.textContent;
    const answer = await fetch(link.href).catch(() => null);
    if (!answer?.ok || !(await copy(await answer.text()))) return cannotCopy();
    link.textContent = link.dataset.done;
    setTimeout(() => (link.textContent = words), 2000);
  });

  const reveal = () => {
    for (const link of document.querySelectorAll("[data-png]")) link.hidden = false;
    // On phones the tabs scroll sideways; scroll to the open one.
    const open = document.querySelector("#round-text .tabs [aria-current]");
    const [here, all] = [open, open?.closest(".tabs")].map((part) => part?.getBoundingClientRect());
    if (open && (here.right > all.right || here.left < all.left)) open.closest(".tabs").scrollLeft += here.left - all.left - 16;
  };
  reveal();
  document.addEventListener("htmx:afterSettle", reveal);

  // What is new does not replace what the reader has just asked for.
  const asked = new Set();
  const byReader = (detail) => detail.elt?.closest?.("#run-rounds li, #round-text");
  document.addEventListener("htmx:beforeRequest", ({ detail }) => byReader(detail) && asked.add(detail.xhr));
  document.addEventListener("htmx:afterRequest", ({ detail }) => asked.delete(detail.xhr));
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const text = document.getElementById("round-text");
    const merged = detail.target?.id === "run-page";
    text?.toggleAttribute("data-kept", merged && asked.size > 0);
    if (!merged) return;
    // Comments that were unfolded stay so.
    document.querySelector("#run-talk[hx-get*='all=']")?.setAttribute("data-kept", "");
  });

  // A passage below the cut that is linked to or focused shows the whole text.
  document.addEventListener("scroll", ({ target }) => {
    const all = document.getElementById("pane-all");
    if (target.id !== "pane-scroll" || !all || all.checked || !target.scrollTop) return;
    const top = target.scrollTop;
    all.checked = true;
    target.scrollTop = 0;
    window.scrollBy(0, top);
  }, true);

  // C goes to the comment field.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "c" || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable], dialog")) return;
    const field = document.getElementById("thread-body");
    if (!field) return;
    event.preventDefault();
    field.focus();
    field.scrollIntoView({ block: "center" });
  });

  // Left and right arrows move between rounds while a round button has the focus.
  document.addEventListener("keydown", (event) => {
    const here = event.target.closest?.(".round-card");
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!here || !step || event.ctrlKey || event.altKey || event.metaKey) return;
    const cards = [...document.querySelectorAll(".round-card")];
    const next = cards[cards.indexOf(here) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
}
