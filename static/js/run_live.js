// Keeps a run's page up to date. The event stream reports that something happened (without one, the page
// polls); then the page is fetched again and merged into what is shown, so it looks as after a reload.
{
  const POLL_MS = 2000;
  const HIDDEN_MS = 15000; // a hidden tab closes its connection
  const MAX_WAIT_MS = 60000;
  const MAX_FAILURES = 25;
  const MAX_TEXT = 40000;
  const REFUSED = "Live updates are not available right now. This page refreshes every few seconds.";

  const page = () => document.getElementById("run-page");
  const block = () => document.getElementById("run-live");
  const part = (name) => block()?.querySelector(`[data-live-${name}]`);
  let source = null;
  let after = "";
  let failures = 0;
  let stopped = false;
  let opened = false;
  let polling = false;
  let text = "";
  let retrying = 0;
  let hiding = 0;
  let refreshing = 0;
  let merging = false;

  const write = (name, words) => {
    const place = part(name);
    if (place && place.textContent !== words) place.textContent = words;
  };

  const notice = (words) => {
    write("notice", words);
    part("notice")?.toggleAttribute("hidden", !words);
  };

  // --- the page --------------------------------------------------------------------------------------
  // The run's own address, or that of the round that the reader opened, in the reader's view of its text.
  const address = () => {
    const run = page().dataset.address;
    const round = document.querySelector("#run-rounds [aria-current]");
    const shown = new URL(location.pathname !== run && round ? round.href : run, location.href);
    shown.search = location.search;
    shown.searchParams.set("part", "page");
    return shown.pathname + shown.search;
  };

  const merge = async () => {
    refreshing = 0;
    const asked = address();
    merging = true;
    await htmx.ajax("GET", asked, { source: page(), target: page(), swap: "morph" }).catch(() => {});
    merging = false;
    tick();
    if (asked !== address()) refresh(); // the reader went elsewhere meanwhile
  };

  // Batches events into one request, with jitter so that pages do not all send at once.
  const refresh = () => {
    refreshing ||= setTimeout(() => (merging ? later() : merge()), 150 + Math.random() * 150);
  };
  const later = () => {
    refreshing = 0;
    refresh();
  };

  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (merging && detail.target === page() && detail.requestConfig.path.includes("part=page"))
      detail.shouldSwap &&= detail.requestConfig.path === address();
  });

  // --- the reply in progress --------------------------------------------------------------------------
  const following = (place, work) => {
    const atEnd = place.scrollTop + place.clientHeight >= place.scrollHeight - 24;
    work();
    if (atEnd) place.scrollTop = place.scrollHeight;
  };

  const onText = ({ begins = false, text: piece }) => {
    text = ((begins ? "" : text) + piece).slice(-MAX_TEXT);
    const place = document.getElementById("live-text");
    if (!place) return;
    following(place, () => {
      // Appending keeps the user's text selection.
      if (place.lastChild && place.textContent.length + piece.length === text.length) place.lastChild.appendData(piece);
      else place.textContent = text;
    });
    place.hidden = !text;
    if (begins) document.getElementById("live-reading").hidden = true;
  };

  const onReading = ({ html }) => {
    const place = document.getElementById("live-reading");
    if (place) following(place, () => Idiomorph.morph(place, html));
  };

  // --- status and figures -------------------------------------------------------------------------------
  const clock = (seconds) => {
    const two = (number) => String(number).padStart(2, "0");
    const minutes = Math.floor(seconds / 60);
    if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
    return minutes ? `${minutes} min ${two(seconds % 60)} s` : `${seconds} s`;
  };

  const tick = () => {
    const began = Date.parse(part("since")?.dataset.liveSince ?? "");
    if (began) write("since", clock(Math.max(0, Math.floor((Date.now() - began) / 1000))));
    const command = Date.parse(part("command")?.dataset.liveCommand ?? "");
    part("command")?.toggleAttribute("hidden", !command);
    if (command) write("command", `command running for ${clock(Math.max(0, Math.floor((Date.now() - command) / 1000)))}`);
    const next = Date.parse(part("next")?.dataset.liveNext ?? "");
    part("next")?.toggleAttribute("hidden", !next);
    const left = Math.ceil((next - Date.now()) / 1000);
    if (next) write("next", left > 0 ? `next retry in ${clock(left)}` : "retrying now");
  };

  const onState = (data) => {
    const place = block();
    if (!place) return;
    if (place.dataset.status !== data.status) refresh();
    for (const name of ["words", "rounds", "tokens", "calls"]) write(name, data[name]);
    if (part("progress")) part("progress").value = data.judged;
    part("since")?.setAttribute("data-live-since", data.began ?? "");
    part("next")?.setAttribute("data-live-next", data.next_try ?? "");
    part("command")?.setAttribute("data-live-command", data.command_began ?? "");
    tick();
  };

  // --- the stream ---------------------------------------------------------------------------------------
  const close = () => {
    clearTimeout(retrying);
    source?.close();
    source = null;
  };

  const stop = (words) => {
    close();
    stopped = true;
    notice(words);
  };

  const retry = () => {
    close();
    failures += 1;
    if (failures > MAX_FAILURES) return stop("Live updates stopped: the server does not answer. Reload the page to try again.");
    if (failures > 1) notice("Connection lost. Reconnecting…");
    retrying = setTimeout(open, Math.min(MAX_WAIT_MS, 1000 * 2 ** (failures - 1)) * (0.75 + Math.random() / 2));
  };

  const HANDLERS = {
    text: onText,
    reading: onReading,
    state: onState,
    event: () => refresh(),
    blind: () => location.reload(),
    gone: () => stop("Live updates stopped: you no longer have access to this run."),
  };

  const open = () => {
    if (stopped || polling || source || document.hidden) return;
    clearTimeout(retrying);
    const address = new URL(block().dataset.events, location.href);
    address.searchParams.set("stay", "1");
    address.searchParams.set("after", after || block().dataset.after);
    source = new EventSource(address);
    // Closed before it was ever open: the server refuses streams, for example because there are too many.
    source.onerror = () => (source.readyState === EventSource.CLOSED && !opened ? pollInstead() : retry());
    source.onopen = () => {
      failures = 0;
      opened = true;
      notice("");
    };
    for (const [kind, work] of Object.entries(HANDLERS)) {
      source.addEventListener(kind, (message) => {
        after = message.lastEventId || after;
        work(JSON.parse(message.data));
      });
    }
  };

  // --- without a stream -----------------------------------------------------------------------------------
  const poll = async () => {
    const before = block()?.dataset.after;
    if (before && !document.hidden) {
      const place = block();
      await htmx.ajax("GET", place.getAttribute("hx-get"), { source: place, target: place }).catch(() => {});
      if (block()?.dataset.after !== before) await merge();
      tick();
      if (polling) notice(REFUSED);
    }
    setTimeout(poll, POLL_MS);
  };

  const pollInstead = () => {
    close();
    polling = true;
    notice(REFUSED);
    setTimeout(poll, POLL_MS);
  };

  if (block()) {
    setInterval(tick, 1000);
    tick();
    if (block().dataset.events) {
      document.addEventListener("visibilitychange", () => {
        clearTimeout(hiding);
        if (document.hidden) hiding = setTimeout(close, HIDDEN_MS);
        else {
          failures = 0;
          open();
        }
      });
      window.addEventListener("pagehide", close);
      window.addEventListener("pageshow", (event) => event.persisted && open());
      open();
    } else setTimeout(poll, POLL_MS);
  }
}
