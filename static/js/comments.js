// Threads on a run's page: new ones come by themselves, and what somebody is typing stays as it is.
{
  const ASK_AFTER = 100; // several events at once are one question
  const talk = () => document.getElementById("run-talk");
  const state = { timer: 0, asking: false, again: false, draft: null };

  // --- merging --------------------------------------------------------------------------------------
  const changed = (area) => area.value !== area.defaultValue;
  const busy = (part) => [...part.querySelectorAll("textarea")].some((area) => changed(area) || area === document.activeElement);

  const update = (old, next) => {
    const same = old.dataset.stamp === next.dataset.stamp;
    if (same && "parts" in next.dataset) merge(old, next);
    else if (!same && (next.dataset.stamp === "wrong" || !busy(old))) {
      old.replaceWith(next);
      window.htmx.process(next);
      return next;
    } else if (!same && "parts" in next.dataset) merge(old, next);
    return old;
  };

  const merge = (here, fresh) => {
    const known = new Map([...here.children].filter((part) => part.id).map((part) => [part.id, part]));
    let last = null;
    for (const next of [...fresh.children]) {
      const old = known.get(next.id);
      known.delete(next.id);
      const part = old ? update(old, next) : next;
      const before = last ? last.nextElementSibling : here.firstElementChild;
      if (part !== before && !(old && busy(old))) here.insertBefore(part, before);
      if (!old) window.htmx.process(part);
      last = part;
    }
    for (const gone of known.values()) if (!busy(gone)) gone.remove();
    for (const name of ["data-counts", "data-threads", "data-stamp"]) if (fresh.hasAttribute(name)) here.setAttribute(name, fresh.getAttribute(name));
  };

  const counts = () => {
    const found = JSON.parse(talk()?.dataset.counts ?? "{}");
    for (const place of document.querySelectorAll("[data-talk-count]")) {
      const count = found[place.dataset.talkCount] ?? 0;
      place.hidden = !count;
      place.querySelector("b").textContent = count;
      place.querySelector(".visually-hidden").textContent = count === 1 ? " comment" : " comments";
    }
  };

  const take = (text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("run-talk");
    const here = talk();
    // An answer about another round than the one now open is too late.
    if (!fresh || !here || fresh.dataset.stamp !== here.dataset.stamp) return false;
    merge(here, document.adoptNode(fresh));
    counts();
    document.dispatchEvent(new CustomEvent("talk:changed"));
    return true;
  };

  // --- what others say --------------------------------------------------------------------------------
  const ask = async () => {
    if (state.asking) {
      state.again = true;
      return;
    }
    const place = talk();
    if (!place) return;
    state.asking = true;
    await window.htmx.ajax("GET", place.dataset.threads, { source: place, target: place, swap: "none" }).catch(() => {});
    state.asking = false;
    if (state.again) {
      state.again = false;
      ask();
    }
  };

  document.addEventListener("run:event", (event) => {
    if (event.detail.kind && event.detail.kind !== "commented") return;
    clearTimeout(state.timer);
    state.timer = setTimeout(ask, ASK_AFTER);
  });

  // --- what one says oneself ----------------------------------------------------------------------------
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, target, requestConfig } = event.detail;
    const elt = requestConfig.elt;
    if (target?.id !== "run-talk" || !xhr.responseText.includes('id="run-talk"')) {
      // The form of an edit that was overtaken takes the place of the one it came from.
      if (elt.matches?.(".comment-edit") && xhr.status >= 400 && xhr.status < 500 && xhr.responseText.includes("comment-edit")) {
        Object.assign(event.detail, { shouldSwap: true, isError: false, target: elt, swapOverride: "outerHTML" });
      }
      return;
    }
    Object.assign(event.detail, { shouldSwap: false, isError: false });
    if (xhr.status < 300 && elt.matches("form")) {
      elt.reset();
      for (const area of elt.querySelectorAll("textarea, input[name=before], input[name=after]")) area.value = "";
      elt.querySelectorAll("textarea").forEach((area) => area.blur());
      elt.querySelector(".errorlist")?.remove();
      if (elt.matches(".comment-edit")) elt.remove();
      else elt.closest("details")?.removeAttribute("open");
      passage();
    }
    take(xhr.responseText);
  });

  // One form for one edit, however often it is asked for.
  document.addEventListener("htmx:beforeRequest", (event) => {
    const link = event.detail.elt;
    if (link.matches?.("[data-once]") && link.closest(".comment").querySelector(".comment-edit")) event.preventDefault();
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    const form = event.detail.target?.querySelector?.(".comment-edit");
    if (form && event.detail.target.matches(".comment")) form.querySelector("textarea").focus();
  });
  document.addEventListener("click", (event) => {
    const cancel = event.target.closest?.(".comment [data-cancel-edit]");
    if (!cancel) return;
    event.preventDefault();
    const comment = cancel.closest(".comment");
    cancel.closest(".comment-edit").remove();
    comment.querySelector("[data-once]")?.focus();
    ask();
  });

  // --- the form for a new thread --------------------------------------------------------------------------
  const form = () => document.querySelector("#talk-new form");

  const passage = () => {
    const place = form()?.querySelector("[data-passage]");
    if (place) place.hidden = form().elements.about.value !== "passage";
  };

  const about = ({ about: chosen, quote = "", before = "", after = "" }) => {
    const fields = form()?.elements;
    if (!fields) return;
    fields.about.value = chosen;
    if (fields.quote) fields.quote.value = quote;
    fields.before.value = before;
    fields.after.value = after;
    form().closest("details").open = true;
    passage();
    fields.body.focus({ preventScroll: true });
    form().scrollIntoView({ block: "center" });
  };

  document.addEventListener("talk:about", (event) => about(event.detail));
  document.addEventListener("change", (event) => event.target.matches?.("#thread-about") && passage());
  document.addEventListener("input", (event) => {
    // Words that somebody changed are no longer those around which this stood.
    if (event.target.matches?.("#thread-quote")) form().elements.before.value = form().elements.after.value = "";
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-about]");
    const tab = event.target.closest?.("[data-to-talk]");
    if (link && form()) {
      event.preventDefault();
      about({ about: link.dataset.about });
    } else if (tab && talk()) {
      event.preventDefault();
      talk().scrollIntoView();
      talk().querySelector("h2").setAttribute("tabindex", "-1");
      talk().querySelector("h2").focus({ preventScroll: true });
    }
  });

  // A round that is opened brings its own form: what was typed goes along.
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    if (event.detail.target?.id === "run-talk") state.draft = form()?.elements.body.value ?? "";
  });
  document.addEventListener("htmx:oobAfterSwap", () => {
    if (state.draft && form() && !form().elements.body.value) about({ about: form().elements.about.value });
    if (state.draft && form()) form().elements.body.value = state.draft;
    state.draft = null;
    passage();
  });

  // The comment that the address names is in sight, also in a thread that is folded.
  const target = () => location.hash.startsWith("#comment-") && document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: "center" });
  window.addEventListener("hashchange", target);
  passage();
  target();
}
