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
  const block = () => document.getElementById("run-live"); // the state that the page was built from
  let source = null;
  let after = "";
  let failures = 0;
  let stopped = false;
  let opened = false;
  let polling = false;
  let text = "";
  let drawn = false;
  let owner = ""; // the place of this text
  let elsewhere = false;
  let retrying = 0;
  let hiding = 0;
  let refreshing = 0;
  let merging = false;

  let noticed = "";
  const notice = (words = noticed) => {
    noticed = words;
    const place = document.querySelector("[data-live-notice]");
    if (!place) return;
    place.textContent = words;
    place.hidden = !words;
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
    merging = elsewhere = false;
    tick();
    notice();
    draw();
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
    // Another answer takes the page's place: what is being fetched for the page is no longer wanted.
    if (merging && detail.target === page() && detail.elt !== page()) htmx.trigger(page(), "htmx:abort");
    if (merging && detail.target === page() && detail.requestConfig.path.includes("part=page"))
      detail.shouldSwap &&= detail.requestConfig.path === address();
  });

  // --- the reply in progress --------------------------------------------------------------------------
  const following = (place, work) => {
    const atEnd = place.scrollTop + place.clientHeight >= place.scrollHeight - 24;
    work();
    if (atEnd) place.scrollTop = place.scrollHeight;
  };

  // Some models repeat the marks that the prompt puts around texts.
  const MARKS = /<<<(?:END )?[^<>\n]{0,80}(?:>{1,3}|$)\n?/g;
  const counted = () => {
    const place = document.querySelector("[data-live-words]");
    const words = text.match(/\S+/g)?.length;
    if (place && words && drawn) place.textContent = `, ${words.toLocaleString("en")} words so far`;
  };

  const draw = () => {
    const place = document.querySelector("[data-live-text]");
    drawn = Boolean(place && text && [place.id, ""].includes(owner));
    if (!drawn) return;
    owner = place.id;
    following(place, () => {
      // Appending keeps the reader's selection.
      const clean = text.replace(MARKS, "");
      if (place.firstChild && clean.startsWith(place.textContent)) place.firstChild.appendData(clean.slice(place.textContent.length));
      else place.textContent = clean;
    });
    counted();
    place.hidden = false;
  };

  const onText = ({ begins = false, text: piece }) => {
    text = ((begins ? "" : text) + piece).slice(-MAX_TEXT);
    if (begins) owner = "";
    // The next text belongs elsewhere on the page: first the page, then the text.
    elsewhere ||= begins && drawn;
    if (elsewhere) refresh();
    else draw();
  };

  const onReading = ({ html }) => {
    const place = document.getElementById("live-reading");
    if (place) following(place, () => Idiomorph.morph(place, html));
  };

  const onJudges = ({ html }) => {
    for (const [seat, said] of Object.entries(html)) {
      const place = document.getElementById(`live-said-${seat}`);
      if (place) Idiomorph.morph(place, said);
    }
  };

  // --- times ------------------------------------------------------------------------------------------
  const clock = (seconds) => {
    const two = (number) => String(number).padStart(2, "0");
    const minutes = Math.floor(seconds / 60);
    const hours = Math.floor(minutes / 60);
    if (hours >= 48) return `${Math.floor(hours / 24)} days`;
    return hours ? `${hours}:${two(minutes % 60)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
  };

  // The estimate counts down, and says so when a round takes longer than those before it.
  const LATE = 1.25;
  const LATE_SECONDS = 10;
  const remaining = (place) => {
    const { liveLeft, low, high, usual } = place.dataset;
    const spent = (Date.now() - Date.parse(liveLeft)) / 1000;
    if (!(spent >= 0)) return;
    if (spent > usual * LATE + LATE_SECONDS) {
      place.textContent = "Longer than usual";
      place.nextElementSibling.textContent = `usually ${clock(Number(usual))} a round, now ${clock(Math.floor(spent))}`;
      return;
    }
    const [least, most] = [Math.floor(Math.max(0, low - spent) / 60), Math.ceil(Math.max(0, high - spent) / 60)];
    if (most <= 1) place.textContent = "about 1 min";
    else if (least === most) place.textContent = `about ${most} min`;
    else place.textContent = least ? `${least} to ${most} min` : `up to ${most} min`;
  };

  const tick = () => {
    const left = document.querySelector("[data-live-left]");
    if (left) remaining(left);
    for (const place of document.querySelectorAll("[data-live-since]")) {
      const began = Date.parse(place.dataset.liveSince);
      if (began) place.textContent = clock(Math.max(0, Math.floor((Date.now() - began) / 1000)));
    }
    const next = document.querySelector("[data-live-next]");
    const until = Math.ceil((Date.parse(next?.dataset.liveNext) - Date.now()) / 1000);
    if (next) next.textContent = until > 0 ? `next try in ${clock(until)}` : until > -30 ? "trying again now" : "next try is due, waiting for a worker";
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
    judges: onJudges,
    state: (data) => data.status !== block()?.dataset.status && refresh(),
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
      await htmx.ajax("GET", place.dataset.address, { source: place, target: place, swap: "morph" }).catch(() => {});
      if (block()?.dataset.after !== before || document.querySelector("[data-live-text]")) await merge();
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
