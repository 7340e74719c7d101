// Refreshed parts of a run's page are merged into it by Idiomorph. Whatever the reader typed, chose, opened or focused stays.
{
  const edited = (field) => {
    if (field.matches("[type=checkbox], [type=radio]")) return field.checked !== field.defaultChecked;
    return field.matches("input, textarea") && field.value !== field.defaultValue;
  };

  const inUse = (part) =>
    part.matches(".comment-edit, .mention-list") ||
    [...part.querySelectorAll("textarea")].some((area) => edited(area) || area === document.activeElement);

  const chosen = new WeakMap(); // what was selected before the options were merged

  Object.assign(Idiomorph.defaults.callbacks, {
    beforeAttributeUpdated: (name, element, change) => {
      if (["value", "checked"].includes(name)) return !edited(element);
      // New elements are still empty here: the server decides only how they start out.
      if (name === "open" && element.matches("details")) return !element.hasChildNodes();
      // Scripts mark the focused element, for example while they suggest names.
      return !(change === "remove" && element === document.activeElement);
    },
    beforeNodeMorphed: (old, next) => {
      if (old.nodeName === "SELECT") chosen.set(old, old.value);
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
      const part = node.contains(document.activeElement) && node.parentElement?.closest("[hx-get]");
      if (part) {
        // The focused control goes away: keyboard users continue from the part it was in.
        part.setAttribute("tabindex", "-1");
        part.focus({ preventScroll: true });
      }
      return true;
    },
  });
}
