// A run's page while the run goes on: one stream tells what is new, and the page asks for the parts that changed.
{
  const TAIL = 40000; // characters of the text under way that are kept on the page
  const FIRST_WAIT = 1000;
  const LONGEST_WAIT = 60000;
  const MOST_FAILURES = 25;
  const HIDDEN_FOR = 15000; // a page that nobody sees lets go of its stream, and takes it up when it is seen again
  const POLL_EVERY = 2000; // where there is no stream to be had
  const ASKING = "Live updates are not available right now. This page refreshes every few seconds.";
  const REFRESH_AFTER = 150;
  // What each kind of event changes on the page besides the words of the step.
  const ALL = ["head", "chart", "rounds"];
  const CHANGES = { claimed: [], queued: ["head"], unreadable: ["head"], waiting: ["head"], paused: ["head"], resumed: ["head"], drafted: ["head", "rounds"], revised: ["head", "rounds"], commented: [], scored: [], decided: [], reviewing: [] };

  const block = () => document.getElementById("run-live");
  const part = (name) => block()?.querySelector(`[data-live-${name}]`);
  const state = { source: null, after: "", text: "", reader: null, failures: 0, opened: false, polling: false, timer: 0, hidden: 0, stale: new Set(), refreshing: 0, over: false };

  const write = (name, words) => {
    const place = part(name);
    if (place && place.textContent !== words) place.textContent = words;
  };

  // --- the text ---------------------------------------------------------------------------------
  // What is new is added at the end, so that words which somebody has selected stay selected.
  const following = (place, work) => {
    const atEnd = place.scrollTop + place.clientHeight >= place.scrollHeight - 24;
    work();
    if (atEnd) place.scrollTop = place.scrollHeight;
  };

  const addText = (piece, anew) => {
    const place = document.getElementById("live-text");
    if (!place) return;
    following(place, () => {
      if (anew || !place.lastChild || state.text.length >= TAIL) place.textContent = state.text;
      else place.lastChild.appendData(piece);
    });
    place.hidden = !state.text;
  };

  // A judge's reply is shown as what it says; what is not JSON stays text.
  const read = (piece, anew) => {
    const place = document.getElementById("live-reading");
    if (!place) return;
    if (anew) {
      place.replaceChildren();
      state.reader = block().dataset.writer === "judge" ? verdictReader(place) : null;
    }
    following(place, () => {
      place.hidden = !state.reader?.feed(piece);
    });
  };

  const onText = ({ begins = false, text }) => {
    state.text = ((begins ? "" : state.text) + text).slice(-TAIL);
    addText(text, begins);
    read(text, begins);
  };

  // --- words and figures --------------------------------------------------------------------------
  const STATUSES = { queued: "Queued", running: "Running", waiting: "Waiting", paused: "Paused", finished: "Finished" };

  const clock = (seconds) => {
    const two = (number) => String(number).padStart(2, "0");
    const minutes = Math.floor(seconds / 60);
    if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
    return minutes ? `${minutes} min ${two(seconds % 60)} s` : `${seconds} s`;
  };

  const tick = () => {
    const since = part("since");
    const began = Date.parse(since?.dataset.liveSince ?? "");
    if (since && began) {
      const words = clock(Math.max(0, Math.floor((Date.now() - began) / 1000)));
      if (since.textContent !== words) since.textContent = words;
    }
    const next = part("next");
    const at = Date.parse(next?.dataset.liveNext ?? "");
    if (next) {
      next.hidden = !at;
      const left = Math.ceil((at - Date.now()) / 1000);
      if (at) next.textContent = left > 0 ? `next try in ${clock(left)}` : "trying again now";
    }
  };

  const onState = (data) => {
    const place = block();
    if (!place) return;
    if (place.dataset.status !== data.status) refreshSoon(["head"]);
    place.dataset.status = data.status;
    const another = place.dataset.writer !== data.writer;
    place.dataset.writer = data.writer;
    if (another) read(state.text, true);
    write("words", data.words);
    write("status", STATUSES[data.status] ?? data.status);
    write("rounds", data.rounds);
    write("tokens", data.tokens);
    write("calls", data.calls);
    const progress = part("progress");
    if (progress) progress.value = data.judged;
    const since = part("since");
    if (since) since.dataset.liveSince = data.began ?? "";
    const next = part("next");
    if (next) next.dataset.liveNext = data.next_try ?? "";
    tick();
  };

  // --- the other parts of the page ------------------------------------------------------------------
  const refresh = () => {
    state.refreshing = 0;
    const page = new URL(location.href);
    for (const name of state.stale) {
      const place = document.getElementById(`run-${name}`);
      if (!place || !window.htmx) continue;
      page.searchParams.set("part", name);
      const address = place.getAttribute("hx-get") ?? page.pathname + page.search;
      window.htmx.ajax("GET", address, { source: place, target: place, swap: "keep" });
    }
    state.stale.clear();
  };

  const refreshSoon = (names) => {
    for (const name of names) state.stale.add(name);
    if (state.stale.size && !state.refreshing) state.refreshing = setTimeout(refresh, REFRESH_AFTER + Math.random() * REFRESH_AFTER);
  };

  const onEvent = (data) => {
    document.dispatchEvent(new CustomEvent("run:event", { detail: data }));
    refreshSoon(CHANGES[data.kind] ?? ALL);
  };

  // --- the stream -----------------------------------------------------------------------------------
  const notice = (words) => {
    const place = part("notice");
    if (!place) return;
    place.textContent = words;
    place.hidden = !words;
  };

  const close = () => {
    clearTimeout(state.timer);
    state.source?.close();
    state.source = null;
  };

  const finish = (words) => {
    close();
    state.over = true;
    notice(words);
  };

  const later = () => {
    close();
    state.failures += 1;
    if (state.failures > MOST_FAILURES) {
      finish("The server has not answered for a while. Load the page again to go on watching.");
      return;
    }
    if (state.failures > 1) notice("The connection was lost; trying again.");
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (state.failures - 1));
    state.timer = setTimeout(open, wait * (0.75 + Math.random() / 2));
  };

  const open = () => {
    const place = block();
    if (!place || state.over || state.source || state.polling || document.hidden) return;
    const address = new URL(place.dataset.events, location.href);
    address.searchParams.set("after", state.after || place.dataset.after);
    const source = new EventSource(address);
    state.source = source;
    const on = (name, work) =>
      source.addEventListener(name, (message) => {
        if (source !== state.source) return;
        if (message.lastEventId) state.after = message.lastEventId;
        work(JSON.parse(message.data));
      });
    source.addEventListener("open", () => {
      state.failures = 0;
      state.opened = true;
      notice("");
    });
    source.addEventListener("error", () => {
      if (source !== state.source) return;
      // Closed by an answer that is no stream, such as one stream too many: the page asks instead.
      if (source.readyState === EventSource.CLOSED && !state.opened) ask();
      else later();
    });
    on("text", onText);
    on("state", onState);
    on("event", onEvent);
    on("done", () => {
      finish("");
      onText({ begins: true, text: "" });
      refreshSoon(ALL);
      const over = block();
      if (!over) return;
      over.hidden = true;
      over.dataset.status = "finished";
      if (state.after) over.dataset.after = state.after;
      document.dispatchEvent(new CustomEvent("run:over"));
    });
    on("blind", () => location.reload());
    on("gone", () => finish("You can no longer watch this run: it is gone, or you are no longer a member or signed in."));
  };

  // --- without a stream -----------------------------------------------------------------------------
  const poll = async () => {
    const place = block();
    if (!place || state.over) return;
    if (!document.hidden) {
      const before = place.dataset.after;
      // A request that fails is made again.
      await window.htmx.ajax("GET", place.dataset.live, { source: place, target: place, swap: "keep" }).catch(() => null);
      const now = block();
      if (now && now.dataset.after !== before) {
        document.dispatchEvent(new CustomEvent("run:event", { detail: { kind: "" } }));
        refreshSoon(ALL);
      }
      if (!now || now.dataset.status === "finished") return;
      tick();
      if (state.polling) notice(ASKING);
    }
    setTimeout(poll, POLL_EVERY);
  };

  const ask = () => {
    close();
    state.polling = true;
    notice(ASKING);
    state.timer = setTimeout(poll, POLL_EVERY);
  };

  const onVisibility = () => {
    if (state.polling) return;
    clearTimeout(state.hidden);
    if (document.hidden) state.hidden = setTimeout(close, HIDDEN_FOR);
    else if (!state.source && !state.over) {
      state.failures = 0;
      open();
    }
  };

  // Whoever is here has launched: the draft that the form kept is no longer needed.
  const forgetDraft = () => {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith("wiggum:launch:") && localStorage.getItem(name).includes('"launched":true')) localStorage.removeItem(name);
    }
  };

  const start = () => {
    const place = block();
    forgetDraft();
    if (!place || place.dataset.status === "finished") return;
    setInterval(tick, 1000);
    tick();
    if (!place.dataset.events || !window.EventSource) {
      setTimeout(poll, POLL_EVERY);
      return;
    }
    document.addEventListener("visibilitychange", onVisibility);
    window.addEventListener("pagehide", close);
    window.addEventListener("pageshow", (event) => event.persisted && open());
    open();
  };

  start();
}
