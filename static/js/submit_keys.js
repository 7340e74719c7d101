// Ctrl+Enter (⌘+Enter) sends the form: from a text area of any form that posts, and from every field of a form with
// `data-submit-keys`.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing || event.defaultPrevented) return;
  const form = event.target.closest?.("form[data-submit-keys]") ?? event.target.closest?.("textarea")?.form;
  if (form?.getAttribute("method")?.toLowerCase() !== "post") return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("[type=submit]"));
});
