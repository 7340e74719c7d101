// Aligns threads with their passages: beside the text on a wide screen, below the passage on a narrow one.
{
  const GAP = 8; // pixels between two threads
  const margin = () => document.getElementById("talk-margin");
  const beside = matchMedia("(min-width: 75rem)");
  const BLOCKS = "p, li, pre, table, blockquote, h1, h2, h3, h4, h5, h6, .raw-line, .diff-line, .diff-row, summary";

  const anchorOf = (card) => {
    const mark = document.querySelector(`#pane-text [data-thread="${card.id}"]`);
    const folded = mark?.closest("details:not([open])");
    return folded?.querySelector("summary") ?? mark;
  };

  // Positions are rules of a sheet, not attributes: htmx and Idiomorph copy attributes from one element to another.
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const rule = (part, value) => `${part} { ${value}px }`;

  const clear = (cards) => {
    for (const room of document.querySelectorAll(".passage-room")) room.remove();
    for (const card of cards) card.classList.remove("thread-aligned");
    sheet.replaceSync("");
  };

  // Cards are placed within the margin, or within the whole pane where they lie over the text.
  const within = () => (beside.matches ? margin() : document.getElementById("pane-scroll"));
  const topOf = (part) => part.getBoundingClientRect().top - within().getBoundingClientRect().top;

  // Cards below one another, each at its passage or right below the card before it.
  const alignBeside = (cards) => {
    const rules = [];
    let bottom = 0;
    for (const { card } of cards) card.classList.add("thread-aligned");
    for (const { card, anchor } of cards) {
      const top = Math.max(bottom, anchor ? topOf(anchor) - GAP : 0);
      rules.push(rule(`#${card.id}`, `top: ${top}`));
      bottom = top + card.offsetHeight + GAP;
    }
    sheet.replaceSync([...rules, rule("#talk-margin", `min-height: ${bottom}`)].join(""));
  };

  // Room is made in the text below each passage, and the card is laid over it.
  const alignBelow = (cards) => {
    const placed = cards.filter(({ anchor }) => anchor);
    for (const { card } of placed) card.classList.add("thread-aligned");
    const heights = placed.map(({ card }) => rule(`[data-room="${card.id}"]`, `height: ${card.offsetHeight + GAP}`));
    for (const entry of placed) {
      entry.room = document.createElement("div");
      entry.room.className = "passage-room";
      entry.room.dataset.room = entry.card.id;
      const block = entry.anchor.closest(BLOCKS) ?? entry.anchor;
      if (block.matches("li, summary")) block.append(entry.room);
      else block.after(entry.room);
    }
    sheet.replaceSync(heights.join(""));
    const tops = placed.map(({ card, room }) => rule(`#${card.id}`, `top: ${topOf(room)}`));
    sheet.replaceSync([...heights, ...tops].join(""));
  };

  const align = () => {
    const place = margin();
    if (!place) return;
    const all = [...place.children];
    clear(all);
    const cards = all.filter((card) => !card.hidden).map((card) => ({ card, anchor: anchorOf(card) }));
    const order = ({ anchor }) => (anchor ? topOf(anchor) : Infinity);
    cards.sort((one, other) => order(one) - order(other) || 0);
    (beside.matches ? alignBeside : alignBelow)(cards);
  };

  let waiting = 0;
  const soon = () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(align);
  };

  // The size of a card or of the text has changed, but not by aligning them.
  const sizes = new Map();
  const watcher = new ResizeObserver((entries) => {
    const changed = entries.filter(({ target, contentRect: { width, height } }) => {
      const [now, before] = [target.matches(".pane-text") ? width : `${width} ${height}`, sizes.get(target)];
      sizes.set(target, now);
      return before !== now;
    });
    if (changed.length) soon();
  });
  const watch = () => {
    watcher.disconnect();
    sizes.clear();
    for (const part of document.querySelectorAll("#pane-text, #talk-margin > *")) watcher.observe(part);
  };

  const light = (id) => {
    for (const part of document.querySelectorAll(".passage-lit")) part.classList.remove("passage-lit");
    for (const part of document.querySelectorAll(id ? `[data-thread="${id}"], #${id}` : ".none")) part.classList.add("passage-lit");
  };
  const threadAt = (target) => target.closest?.("mark.passage")?.dataset.thread ?? target.closest?.("#talk-margin > .thread[id]")?.id;
  for (const name of ["pointerover", "focusin"]) document.addEventListener(name, (event) => light(threadAt(event.target)));

  document.addEventListener("passages:drawn", () => {
    watch();
    soon();
  });
  document.addEventListener("toggle", (event) => event.target.closest?.("#pane-text, #talk-margin") && soon(), true);
  beside.addEventListener("change", soon);
  watch();
  align();
}
