// Idiomorph merges refreshed parts into a run's page. Input, selections, open disclosures and focus are kept.
{
  const edited = (field) => {
    if (field.matches("[type=checkbox], [type=radio]")) return field.checked !== field.defaultChecked;
    return field.matches("input, textarea") && field.value !== field.defaultValue;
  };

  const inUse = (part) =>
    part.matches(".comment-edit, .mention-list") ||
    [...part.querySelectorAll("textarea")].some((area) => edited(area) || area === document.activeElement);

  const chosen = new WeakMap(); // the selection before the options were merged

  Object.assign(Idiomorph.defaults.callbacks, {
    beforeAttributeUpdated: (name, element, change) => {
      if (["value", "checked"].includes(name)) return !edited(element);
      // New elements are still empty here; the server sets only their initial state.
      if (name === "open" && element.matches("details")) return !element.hasChildNodes();
      // The form for a comment on a passage is shown and hidden by script.
      if (name === "hidden" && element.id === "talk-passage") return false;
      // Scripts mark the focused element, for example while they suggest names.
      return !(change === "remove" && element === document.activeElement);
    },
    beforeNodeMorphed: (old, next) => {
      if (old.nodeName === "SELECT") chosen.set(old, old.value);
      // The reader looks at something else here.
      if (old.dataset && "kept" in old.dataset) return false;
      // The content of a fixed element depends on its id alone, and scripts draw into it.
      return !(next.dataset && "fixed" in next.dataset && old.id === next.id);
    },
    afterNodeMorphed: (old) => {
      const value = chosen.get(old);
      if ([...(old.options ?? [])].some((option) => option.value === value)) old.value = value;
    },
    beforeNodeRemoved: (node) => {
      if (node.nodeType !== Node.ELEMENT_NODE) return true;
      if (inUse(node)) return false;
      const part = node.contains(document.activeElement) && node.parentElement?.closest(":is(header, section, nav, div)[id]");
      if (part) {
        // The focused control is removed: move the focus to the part it was in.
        part.setAttribute("tabindex", "-1");
        part.focus({ preventScroll: true });
      }
      return true;
    },
  });
}
