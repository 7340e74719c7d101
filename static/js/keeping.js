// What is new is merged into the page instead of put in its place: what the reader has opened, chosen, selected or
// has the focus on is the same thing as before. For htmx this is one more way to swap, `keep`, within hx-ext="keep".
{
  // Things with an id are known by it, others by what they are and where they lead.
  const nameOf = (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return node.nodeName;
    if (node.id) return `#${node.id}`;
    const leads = ["action", "href", "name", "class"].map((name) => node.getAttribute(name) ?? "");
    return [node.nodeName, ...leads].join("\n");
  };

  const attributes = (old, next) => {
    for (const { name, value } of [...next.attributes]) {
      // The server does not know what is open here, and has no say in it.
      if (name === "open" && next.nodeName === "DETAILS") continue;
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    for (const { name } of [...old.attributes]) {
      const stays = (name === "open" && old.nodeName === "DETAILS") || (name === "tabindex" && old === document.activeElement);
      if (!stays && !next.hasAttribute(name)) old.removeAttribute(name);
    }
  };

  const partners = (here, fresh) => {
    const known = new Map();
    for (const old of here.childNodes) {
      const name = nameOf(old);
      if (!known.has(name)) known.set(name, []);
      known.get(name).push(old);
    }
    for (const waiting of known.values()) waiting.reverse();
    return [...fresh.childNodes].map((next) => [next, known.get(nameOf(next))?.pop()]);
  };

  const children = (here, fresh) => {
    const pairs = partners(here, fresh);
    const staying = new Set(pairs.map(([, old]) => old));
    for (const old of [...here.childNodes]) if (!staying.has(old)) old.remove();
    let place = here.firstChild;
    for (const [next, old] of pairs) {
      if (old && old === place) {
        // It stands where it should: what is moved loses the focus.
        place = place.nextSibling;
        merged(old, next);
      } else here.insertBefore(old ? merged(old, next) : next, place);
    }
  };

  // The part that stands on the page from now on: the old one, brought up to date, if it can be.
  const merged = (old, next) => {
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data !== next.data) old.data = next.data;
      return old;
    }
    const same = next.dataset?.same;
    // What has such a name is as it was as long as the name is: scripts may have drawn into it.
    if (same && old.dataset.same === same) return old;
    if (same || old.nodeName !== next.nodeName) {
      old.replaceWith(next);
      return next;
    }
    attributes(old, next);
    children(old, next);
    return old;
  };

  // Where the control with the focus is gone, the keyboard goes on from the part in which it stood.
  const withFocus = (part, work) => {
    const before = document.activeElement;
    const inside = before !== part && part.contains(before);
    const now = work();
    if (inside && !before.isConnected && now.isConnected) {
      now.setAttribute("tabindex", "-1");
      now.focus({ preventScroll: true });
    }
    return now;
  };

  window.htmx?.defineExtension("keep", {
    isInlineSwap: (style) => style === "keep",
    handleSwap: (style, target, fragment) => {
      if (style !== "keep") return false;
      const next = [...fragment.children].find((part) => part.id === target.id);
      if (next) return [withFocus(target, () => merged(target, next))];
      const others = [...fragment.children];
      target.replaceWith(...others);
      return others;
    },
  });
}
