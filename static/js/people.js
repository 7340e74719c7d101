// Copies a field's value. Without script the user copies it by hand.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    field.select();
    await navigator.clipboard.writeText(field.value);
    document.getElementById("copied").textContent = "Copied.";
  });
}
