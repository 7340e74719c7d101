// Copies what a field holds; without this the field is there to be copied by hand.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    field.select();
    await navigator.clipboard.writeText(field.value);
    document.getElementById("copied").textContent = "Copied.";
  });
}
