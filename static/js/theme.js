// Changes the theme without reloading, so no input is lost. Without script the form posts.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-theme-form]") || !event.submitter) return;
  event.preventDefault();
  const data = new FormData(form, event.submitter);
  const response = await fetch(form.action, {
    method: "POST",
    body: data,
    headers: { "HX-Request": "true" },
  }).catch(() => null);
  if (!response?.ok) {
    const chosen = document.createElement("input");
    chosen.type = "hidden";
    chosen.name = "theme";
    chosen.value = data.get("theme");
    form.append(chosen);
    form.submit();
    return;
  }
  const theme = data.get("theme");
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const button of document.querySelectorAll("[data-theme-form] button")) {
    button.setAttribute("aria-pressed", String(button.value === theme));
  }
});
