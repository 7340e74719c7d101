// Suggests teammates' names after an @, in a list with keyboard support.
{
  const TYPED = /(?:^|[^\p{L}\p{N}_.@+-])@([^\s@][^@\n]{0,39}|)$/u;
  const ASK_AFTER = 120;
  const state = { area: null, list: null, people: [], active: -1, start: 0, asked: 0, timer: 0, chosen: "" };

  const close = () => {
    clearTimeout(state.timer);
    state.asked += 1;
    state.list?.remove();
    state.area?.removeAttribute("aria-controls");
    state.area?.removeAttribute("aria-activedescendant");
    Object.assign(state, { list: null, people: [], active: -1 });
  };

  const activate = (index) => {
    state.active = (index + state.people.length) % state.people.length;
    [...state.list.children].forEach((option, place) => option.setAttribute("aria-selected", String(place === state.active)));
    state.area.setAttribute("aria-activedescendant", state.list.children[state.active].id);
  };

  const choose = (index) => {
    const { area, start } = state;
    state.chosen = `@${state.people[index].write} `;
    area.setRangeText(state.chosen, start, area.selectionStart, "end");
    close();
    area.focus();
    area.dispatchEvent(new Event("input", { bubbles: true }));
  };

  const show = (people) => {
    const area = state.area;
    state.list?.remove();
    const list = document.createElement("ul");
    list.className = "mention-list";
    list.id = `${area.id}-people`;
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Teammates");
    people.forEach((person, place) => {
      const option = document.createElement("li");
      option.id = `${list.id}-${place}`;
      option.setAttribute("role", "option");
      const name = document.createElement("bdi");
      name.textContent = person.name;
      const mail = document.createElement("span");
      mail.className = "soft small";
      mail.textContent = person.mail;
      option.append(name, " ", mail);
      option.addEventListener("pointerdown", (event) => {
        event.preventDefault(); // keep the focus in the field
        choose(place);
      });
      list.append(option);
    });
    area.insertAdjacentElement("afterend", list);
    area.setAttribute("aria-controls", list.id);
    Object.assign(state, { list, people });
    activate(0);
  };

  const ask = async (typed) => {
    const asked = ++state.asked;
    const place = state.area.closest("[data-names]");
    if (!place) return;
    const address = new URL(place.dataset.names, location.href);
    address.searchParams.set("q", typed);
    const answer = await fetch(address, { headers: { Accept: "application/json" } }).catch(() => null);
    const people = answer?.ok ? (await answer.json()).people : [];
    if (asked !== state.asked) return;
    if (people.length) show(people);
    else close();
  };

  document.addEventListener("input", (event) => {
    const area = event.target.closest?.("textarea[data-mentions]");
    if (!area) return;
    if (state.area !== area) close();
    state.area = area;
    const found = area.selectionStart === area.selectionEnd && TYPED.exec(area.value.slice(Math.max(0, area.selectionStart - 60), area.selectionStart));
    state.start = found ? area.selectionStart - found[1].length - 1 : 0;
    // A chosen name is complete: what follows it is text.
    if (!found || (state.chosen && area.value.startsWith(state.chosen, state.start))) {
      close();
      return;
    }
    area.setAttribute("aria-autocomplete", "list");
    clearTimeout(state.timer);
    state.timer = setTimeout(() => ask(found[1]), ASK_AFTER);
  });

  document.addEventListener("keydown", (event) => {
    if (!state.list || event.target !== state.area || event.isComposing) return;
    const work = {
      ArrowDown: () => activate(state.active + 1),
      ArrowUp: () => activate(state.active - 1),
      Enter: () => choose(state.active),
      Tab: () => choose(state.active),
      Escape: close,
    }[event.key];
    if (!work || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    work();
  });

  document.addEventListener("focusout", (event) => event.target === state.area && close());
}
