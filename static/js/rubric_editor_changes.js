// The save bar names what changed and warns if scores will not compare; the pass mark says what it would have done.
{
  const form = document.getElementById("rubric-editor");
  const IGNORED = /^(csrfmiddlewaretoken|act|draft|edited_from|note|show|preset|add-kind|panel-type|try-text|evaluator-try-text)$|-was$/;
  const SCORING = /^(criterion-\d+-(description|ideal|weight|key)|scale-|policy-composite$|policy-checks_in_composite|policy-penalties|docked)/;
  const NOUNS = { criterion: "criterion", check: "check", judge: "judge", metric: "metric" };
  const SHOWN = 3;

  const data = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");
  const changes = (original) => {
    const now = Object.fromEntries(new FormData(form));
    const names = new Set([...Object.keys(original), ...Object.keys(now)]);
    return [...names].filter((name) => !IGNORED.test(name) && (original[name] ?? "") !== (now[name] ?? "").replaceAll("\r\n", "\n"));
  };

  // What a person calls the field: its row's name, or its label.
  const called = (name, original) => {
    const [, noun, number] = name.match(/^(criterion|check|judge|metric)-(\d+)-/) ?? [];
    if (noun && name.endsWith("-order") && `${noun}-${number}-name` in original) return `order of ${noun === "criterion" ? "criteria" : `${noun}s`}`;
    if (noun) {
      const row = document.getElementById(`${noun}-${number}`);
      return row?.querySelector("[data-title]").textContent.trim() || original[`${noun}-${number}-name`] || original[`${noun}-${number}-key`] || `new ${NOUNS[noun]}`;
    }
    if (name.startsWith("stop-")) return "stop rules";
    if (name.startsWith("context-")) return "who sees what";
    if (name.startsWith("template-")) return "prompt templates";
    if (name === "primary") return "primary criterion";
    const field = form.elements[name];
    const label = field?.labels?.[0] ?? document.querySelector(`label[for="${name}"]`);
    return (label?.firstChild?.textContent ?? name).trim().toLowerCase();
  };

  const show = (original) => {
    const found = changes(original);
    const names = [...new Set(found.map((name) => called(name, original)))];
    const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "";
    const shown = form.querySelector("[data-change-names]");
    shown.textContent = names.length ? `${names.slice(0, SHOWN).join(", ")}${more}` : "";
    shown.title = names.join(", ");
    form.querySelector("[data-incomparable]").hidden = form.dataset.version === "0" || !found.some((name) => SCORING.test(name));
    form.querySelector("[data-discard]").hidden = !found.length;
    const save = form.querySelector("[data-save-changed]");
    if (save) save.disabled = !found.length;
  };

  const past = (original) => {
    const runs = data("past-runs");
    const typed = form.elements["policy-pass_threshold"].value.trim();
    if (!runs?.runs || (typed && !Number.isFinite(Number(typed)))) return;
    const passing = (mark) => runs.scores.filter((score) => score >= Number(mark)).length;
    const of = runs.runs > 1 ? `the last ${runs.runs} runs` : "the only run";
    const before = original["policy-pass_threshold"];
    const other = before && Number(before) !== Number(typed) ? `, ${passing(before)} with ${before}` : "";
    const words = typed ? `Of ${of}, ${passing(typed)} would pass with ${typed}${other}.` : `Without a pass mark, none of ${of} would pass or fail.`;
    form.querySelector("[data-past]").textContent = words;
  };

  if (form) {
    const original = data("editor-original");
    const update = () => {
      show(original);
      past(original);
    };
    form.addEventListener("editor:changed", update);
    form.addEventListener("change", update);
    update();
  }
}
