// Passages of the candidate: marks those with threads, and lets the user comment on a selection.
{
  const ROOTS = "#pane-text > .prose, #pane-text > .raw-lines, #pane-text > .diff-text, #pane-text > .diff-sides";
  // Not part of the round's text: among others, what a comparison shows of the earlier one.
  const EARLIER = "del, .moved-out, .moved-word, .asked, .diff-names, .diff-row > :first-child, .fold-same > summary";
  const ASIDE = `.line-number, .line-mark, .left-out, .line-thread, .passage-link, .passage-room, ${EARLIER}`;
  const AROUND = 128; // characters sent from before and after a selection, to tell equal passages apart
  // Markup that a rendered text does not show; as in refinement/anchoring.py.
  const UNSEEN = /^[ \t]*(?:`{3,}|~{3,})[^\n]*$|^[ \t]*\d{1,9}[.)](?=[ \t])|(?<=\])\([^()\s]*(?:\s+"[^"\n]*")?\)/gmu;
  const LETTER = /[\p{L}\p{N}]/u;

  const letters = (text) => [...text].filter((sign) => LETTER.test(sign)).join("");
  const folded = (text, rendered) => letters(rendered ? text.replace(UNSEEN, "") : text);

  const nodesIn = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, {
      acceptNode: (node) => (node.parentElement.closest(ASIDE) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT),
    });
    const nodes = [];
    while (walker.nextNode()) nodes.push(walker.currentNode);
    return nodes;
  };

  // --- marks ----------------------------------------------------------------------------------------
  const placesIn = (root) => {
    const places = [];
    let text = "";
    for (const node of nodesIn(root)) {
      let offset = 0;
      for (const sign of node.data) {
        if (LETTER.test(sign)) {
          text += sign;
          for (let unit = 0; unit < sign.length; unit += 1) places.push([node, offset, sign.length]);
        }
        offset += sign.length;
      }
    }
    return { text, places };
  };

  const common = (one, other) => {
    let count = 0;
    while (count < one.length && count < other.length && one[count] === other[count]) count += 1;
    return count;
  };
  const turned = (text) => [...text].reverse().join("");

  const bestPlace = (text, words, before, after) => {
    let best = -1;
    let fitness = -1;
    for (let start = text.indexOf(words); start >= 0; start = text.indexOf(words, start + 1)) {
      const end = start + words.length;
      const fits = common(turned(before), turned(text.slice(Math.max(0, start - AROUND), start))) + common(after, text.slice(end, end + AROUND));
      if (fits > fitness) [best, fitness] = [start, fits];
    }
    return best;
  };

  const wrapped = (node, start, end, thread) => {
    const middle = start ? node.splitText(start) : node;
    if (end - start < middle.data.length) middle.splitText(end - start);
    const mark = document.createElement("mark");
    mark.className = "passage";
    mark.dataset.thread = thread;
    middle.replaceWith(mark);
    mark.append(middle);
    return mark;
  };

  const markOne = (root, article) => {
    const rendered = root.matches(".prose, .diff-text");
    const words = folded(article.dataset.quote, rendered);
    const { text, places } = placesIn(root);
    const start = words ? bestPlace(text, words, folded(article.dataset.before, rendered), folded(article.dataset.after, rendered)) : -1;
    if (start < 0) return;
    const [first, from] = places[start];
    const [last, at, length] = places[start + words.length - 1];
    if (article.matches(".thread-resolved")) {
      // Not marked: only the place where its thread stands.
      const place = document.createElement("span");
      place.className = "passage-place";
      place.dataset.thread = article.id;
      const end = first.splitText(from);
      end.before(place);
      return;
    }
    const nodes = nodesIn(root);
    // A quotation that ends with a full stop is marked with it.
    const stop = LETTER.test(article.dataset.quote.at(-1)) ? 0 : /^[^\p{L}\p{N}\s]*/u.exec(last.data.slice(at + length))[0].length;
    const parts = nodes.slice(nodes.indexOf(first), nodes.indexOf(last) + 1).filter((node) => node.data.trim());
    const marks = parts.map((node) => wrapped(node, node === first ? from : 0, node === last ? at + length + stop : node.data.length, article.id));
    const link = document.createElement("a");
    link.className = "passage-link";
    link.href = `#${article.id}`;
    const count = article.querySelectorAll(".comment").length;
    link.textContent = count;
    link.setAttribute("aria-label", `${count} ${count === 1 ? "comment" : "comments"} on this passage`);
    marks.at(-1)?.after(link);
  };

  const unmark = (root) => {
    for (const link of root.querySelectorAll(".passage-link, .line-thread, .passage-room, .passage-place")) link.remove();
    for (const mark of root.querySelectorAll("mark.passage")) mark.replaceWith(...mark.childNodes);
    root.normalize();
  };

  const PLACED = "#talk-margin > .thread[data-quote]";
  const signature = () => [...document.querySelectorAll(PLACED)].map((article) => `${article.id}:${article.matches(".thread-open")}:${article.querySelectorAll(".comment").length}`).join();
  const drawn = new WeakMap();

  const draw = () => {
    const root = document.querySelector(ROOTS);
    if (!root || drawn.get(root) === signature() || !getSelection().isCollapsed) return;
    drawn.set(root, signature());
    unmark(root);
    for (const article of document.querySelectorAll(PLACED)) markOne(root, article);
  };
  const redraw = () => {
    draw();
    document.dispatchEvent(new CustomEvent("passages:drawn"));
  };

  const lead = (thread) => {
    const place = document.getElementById(thread);
    if (!place) return;
    place.setAttribute("tabindex", "-1");
    place.scrollIntoView({ block: "center" });
    place.focus({ preventScroll: true });
  };

  document.addEventListener("click", (event) => {
    const mark = event.target.closest?.("mark.passage");
    const link = event.target.closest?.(".passage-link, .line-thread");
    if (link) {
      event.preventDefault();
      lead(link.hash.slice(1));
    } else if (mark && getSelection().isCollapsed) lead(mark.dataset.thread);
  });

  // --- selection ------------------------------------------------------------------------------------
  const block = (node) => node.parentElement.closest("p, li, td, th, pre, h1, h2, h3, h4, h5, h6, .raw-line, .diff-line, .diff-row");

  const selected = () => {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    const root = document.querySelector(ROOTS);
    if (!root?.contains(range.commonAncestorContainer)) return null;
    const parts = { before: "", words: "", after: "" };
    let above = null;
    for (const node of nodesIn(root)) {
      const gap = above && block(above) !== block(node) ? "\n" : "";
      above = node;
      if (!range.intersectsNode(node)) {
        parts[parts.words ? "after" : "before"] += gap + node.data;
        continue;
      }
      const start = node === range.startContainer ? range.startOffset : 0;
      const end = node === range.endContainer ? range.endOffset : node.data.length;
      parts[parts.words ? "words" : "before"] += gap;
      if (!parts.words) parts.before += node.data.slice(0, start);
      parts.words += node.data.slice(start, end);
      parts.after += node.data.slice(end);
    }
    return parts.words.trim() ? { root, range, ...parts } : null;
  };

  const button = document.createElement("button");
  button.type = "button";
  button.className = "button button-primary button-small passage-button";
  button.textContent = "Comment";
  button.hidden = true;

  const offer = () => {
    const found = form() && selected();
    button.hidden = !found;
    if (!found) return;
    if (button.previousElementSibling !== found.root) found.root.after(button);
    const box = found.range.getBoundingClientRect();
    const parent = button.offsetParent?.getBoundingClientRect() ?? { left: 0, top: 0, width: innerWidth };
    button.style.top = `${box.bottom - parent.top + 6}px`;
    button.style.left = `${Math.max(8, Math.min(box.left - parent.left, parent.width - button.offsetWidth - 8))}px`;
  };

  // --- a new thread -----------------------------------------------------------------------------------
  const form = () => document.getElementById("talk-passage");

  const ask = ({ range, words, before, after }) => {
    const { quote, before: above, after: below, body } = form().elements;
    [quote.value, above.value, below.value] = [words.trim(), before.slice(-AROUND), after.slice(0, AROUND)];
    form().hidden = false;
    const anchor = document.createElement("span");
    anchor.dataset.thread = form().id;
    for (const old of document.querySelectorAll(`#pane-text [data-thread="${form().id}"]`)) old.remove();
    range.insertNode(anchor);
    getSelection().removeAllRanges();
    document.dispatchEvent(new CustomEvent("passages:drawn"));
    requestAnimationFrame(() => requestAnimationFrame(() => {
      body.focus({ preventScroll: true });
      form().scrollIntoView({ block: "nearest" });
    }));
  };

  const dismiss = () => {
    form().reset();
    form().hidden = true;
    for (const old of document.querySelectorAll(`#pane-text [data-thread="${form().id}"]`)) old.remove();
    redraw();
  };

  button.addEventListener("pointerdown", (event) => event.preventDefault()); // keep the selection
  button.addEventListener("click", () => {
    const found = selected();
    button.hidden = true;
    if (found && form()) ask(found);
  });
  document.addEventListener("click", (event) => event.target.closest?.("[data-cancel-passage]") && dismiss());
  document.addEventListener("keydown", (event) => event.key === "Escape" && !event.defaultPrevented && form()?.contains(event.target) && dismiss());
  document.addEventListener("talk:sent", (event) => event.detail === form() && dismiss());

  let waiting = 0;
  document.addEventListener("selectionchange", () => {
    clearTimeout(waiting);
    waiting = setTimeout(offer, 80);
  });

  document.addEventListener("htmx:afterSettle", redraw);
  redraw();
}
