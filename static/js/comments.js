// Comments on a run's page: posting and editing in place, and the form for a new thread.
{
  const talk = () => document.getElementById("run-talk");
  const form = () => document.querySelector("#talk-new form");

  // Comment counts elsewhere on the page.
  const counts = () => {
    const found = JSON.parse(talk()?.dataset.counts ?? "{}");
    for (const place of document.querySelectorAll("[data-talk-count]")) {
      const count = found[place.dataset.talkCount] ?? 0;
      place.hidden = !count;
      place.querySelector("b").textContent = count;
      place.querySelector(".talk-word").textContent = count === 1 ? "comment" : "comments";
    }
    const open = talk()?.dataset.open ?? "0";
    for (const place of document.querySelectorAll("[data-open-count]")) place.textContent = `${open} open ${open === "1" ? "comment" : "comments"}`;
  };

  // --- posting and editing ------------------------------------------------------------------------------
  const clear = (sent) => {
    sent.reset();
    for (const area of sent.querySelectorAll("textarea")) {
      area.value = "";
      area.blur();
    }
    // htmx still needs the form until its answer is on the page.
    if (sent.matches(".comment-edit")) document.addEventListener("htmx:afterSettle", () => sent.remove(), { once: true });
    else sent.closest("details.thread-reply")?.removeAttribute("open");
    document.dispatchEvent(new CustomEvent("talk:sent", { detail: sent }));
  };

  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (detail.target.id !== "run-talk") return;
    // The user may have opened another round in the meantime.
    if (!detail.xhr.responseText.includes(`data-round="${detail.target.dataset.round}"`)) detail.shouldSwap = false;
    if (detail.xhr.status < 300 && detail.requestConfig.elt.matches("form")) clear(detail.requestConfig.elt);
  });

  // Only one edit form per comment.
  document.addEventListener("htmx:beforeRequest", (event) => {
    const link = event.detail.elt;
    if (link.matches?.("[data-once]") && link.closest(".comment").querySelector(".comment-edit")) event.preventDefault();
  });
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target.matches?.(".comment")) detail.target.querySelector(".comment-edit textarea")?.focus();
  });
  document.addEventListener("htmx:afterSettle", counts);
  document.addEventListener("click", (event) => {
    const cancel = event.target.closest?.(".comment [data-cancel-edit]");
    if (!cancel) return;
    event.preventDefault();
    const comment = cancel.closest(".comment");
    cancel.closest(".comment-edit").remove();
    comment.querySelector("[data-once]")?.focus();
  });

  // --- the form for a new thread --------------------------------------------------------------------------
  const about = (chosen) => {
    const fields = form().elements;
    fields.about.value = chosen;
    fields.body.focus({ preventScroll: true });
    form().scrollIntoView({ block: "center" });
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-about]");
    const tab = event.target.closest?.("[data-to-talk]");
    if (link && form()) {
      event.preventDefault();
      about(link.dataset.about);
    } else if (tab && talk()) {
      event.preventDefault();
      talk().scrollIntoView();
      talk().querySelector("h2").setAttribute("tabindex", "-1");
      talk().querySelector("h2").focus({ preventScroll: true });
    }
  });

  // Scrolls the comment in the URL into view, even in a collapsed thread.
  const target = () => location.hash.startsWith("#comment-") && document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: "center" });
  window.addEventListener("hashchange", target);
  target();
}
