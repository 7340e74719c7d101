// The launch form of experiments: a live estimate, and no launch twice.
{
  const WAIT = 350;
  const form = () => document.getElementById("experiment-form");
  let timer = 0;
  let sent = false;

  const estimate = () => htmx.trigger("#experiment-estimate", "experiment:changed");

  // Another suite or rubric version changes what the form offers: it is asked for whole. What is edited
  // meanwhile is kept, except after another suite, which starts with its newest version.
  const reload = (suite) =>
    htmx.ajax("POST", document.querySelector("#experiment-estimate").getAttribute("hx-post"), {
      source: form(),
      values: suite ? { do: "show", suite_version: "" } : { do: "show" },
      target: "#experiment-form",
      select: "#experiment-form",
      swap: suite ? "outerHTML" : "morph:outerHTML",
    });

  const onChange = ({ target, type }) => {
    if (!target.closest("#experiment-form")) return;
    clearTimeout(timer);
    const whole = type === "change" && (["suite", "suite_version"].includes(target.name) || target.name.endsWith("-version"));
    timer = setTimeout(() => (whole ? reload(target.name === "suite") : estimate()), whole ? 0 : WAIT);
  };

  document.addEventListener("input", onChange);
  document.addEventListener("change", onChange);
  document.addEventListener("submit", (event) => {
    if (event.target !== form() || event.submitter?.hasAttribute("formaction")) return;
    if (sent) return event.preventDefault();
    sent = true;
    const button = form().querySelector("[data-launch]");
    button.setAttribute("aria-disabled", "true");
    button.textContent = "Launching …";
  });
  window.addEventListener("pageshow", () => {
    sent = false;
  });
}
