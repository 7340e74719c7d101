// A run's page hears what people do, also when the run is over: the parts that show it are asked for again.
{
  const POLL_EVERY = 3000; // where there is no stream to be had
  const HIDDEN_FOR = 15000; // a page that nobody sees lets go of its stream
  // What each kind of event changes; a look without a stream does not know the kind, and changes all.
  const PARTS = { scored: ["round-people"], decided: ["run-head"], steered: ["run-instructions"], revised: ["run-instructions"], stopped: ["run-instructions", "run-reviews"], reviewing: ["run-reviews"] };
  const EVERYTHING = [...new Set(Object.values(PARTS).flat())];

  const block = () => document.getElementById("run-live");
  const state = { source: null, after: "", hidden: 0, polling: false };

  const refresh = (id) => {
    const place = document.getElementById(id);
    const address = place?.getAttribute("hx-get");
    if (address && window.htmx) window.htmx.ajax("GET", address, { source: place, target: place, swap: "keep" });
  };

  document.addEventListener("run:event", (event) => {
    const kind = event.detail.kind;
    for (const id of kind ? (PARTS[kind] ?? []) : EVERYTHING) refresh(id);
  });

  const tell = (detail) => document.dispatchEvent(new CustomEvent("run:event", { detail }));

  const close = () => {
    state.source?.close();
    state.source = null;
  };

  const open = () => {
    const place = block();
    if (!place || state.source || document.hidden) return;
    const address = new URL(place.dataset.events, location.href);
    address.searchParams.set("stay", "1");
    address.searchParams.set("after", state.after || place.dataset.after);
    const source = new EventSource(address);
    state.source = source;
    source.addEventListener("event", (message) => {
      if (message.lastEventId) state.after = message.lastEventId;
      const data = JSON.parse(message.data);
      // Somebody gave it more rounds: the page of a run at work is another one.
      if (["extended", "retried", "edited"].includes(data.kind)) location.reload();
      else tell(data);
    });
    source.addEventListener("blind", () => location.reload());
    source.addEventListener("gone", close);
    source.addEventListener("error", () => {
      // Refused, such as one stream too many: the page asks instead.
      if (source !== state.source || source.readyState !== EventSource.CLOSED) return;
      close();
      ask();
    });
  };

  const poll = async () => {
    const place = block();
    if (!place) return;
    if (!document.hidden) {
      const answer = await fetch(place.dataset.live, { headers: { "HX-Request": "true" } }).catch(() => null);
      const other = answer?.headers.get("HX-Redirect");
      if (other) location.assign(other);
      const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
      const now = page?.getElementById("run-live")?.dataset.after;
      if (now && now !== (state.after || place.dataset.after)) {
        state.after = now;
        tell({ kind: "" });
      }
    }
    setTimeout(poll, POLL_EVERY);
  };

  const ask = () => {
    state.polling = true;
    setTimeout(poll, POLL_EVERY);
  };

  const listen = () => {
    const place = block();
    if (!place || place.dataset.status !== "finished" || state.source || state.polling) return;
    if (place.dataset.events && window.EventSource) {
      open();
      return;
    }
    ask();
  };

  document.addEventListener("visibilitychange", () => {
    clearTimeout(state.hidden);
    if (document.hidden) state.hidden = setTimeout(close, HIDDEN_FOR);
    else if (!state.polling) listen();
  });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", (event) => event.persisted && !state.polling && listen());
  document.addEventListener("run:over", listen);
  listen();
}
