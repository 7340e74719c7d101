// The live total of the criteria's weights, and a button to normalise them to 1.
{
  const form = document.getElementById("rubric-editor");
  const SHARES = 10000;
  const weights = () => [...form.querySelectorAll("[data-rows='criterion'] [data-weight]")];
  const sound = (field) => /^\+?(\d+\.?\d*|\.\d+)$/.test(field.value.trim()) && Number(field.value) > 0;

  const total = () => {
    const fields = weights();
    const sum = fields.filter(sound).reduce((all, field) => all + Math.round(Number(field.value) * SHARES), 0);
    form.querySelector("[data-weight-total]").textContent = String(sum / SHARES);
    for (const field of fields) showShare(field, sum / SHARES);
  };

  // Shows the weight's share of the composite.
  const showShare = (field, sum) => {
    const counts = sound(field) && form.elements["policy-composite"].value === "weighted_mean";
    const share = counts ? `${Math.round((1000 * Number(field.value)) / sum) / 10} %` : "";
    field.closest(".field").querySelector("[data-share]").textContent = share;
  };

  // A new criterion gets the mean weight of the others.
  const usual = () => {
    const values = weights().filter(sound).map((field) => Number(field.value));
    const mean = values.reduce((all, value) => all + value, 0) / values.length;
    return values.length ? String(Math.max(0.01, Math.round(mean * 100) / 100)) : "1";
  };

  // Largest remainders are rounded up, so the shares add up to exactly 1.
  const shares = (values) => {
    const sum = values.reduce((all, value) => all + value, 0);
    const exact = values.map((value) => (value * SHARES) / sum);
    const parts = exact.map((share) => Math.max(1, Math.floor(share)));
    const missing = SHARES - parts.reduce((all, part) => all + part, 0);
    const order = exact.map((share, place) => place).sort((a, b) => (exact[b] % 1) - (exact[a] % 1) || a - b);
    for (const place of order.slice(0, Math.max(0, missing))) parts[place] += 1;
    parts[parts.indexOf(Math.max(...parts))] += Math.min(0, missing);
    return parts.map((part) => String(part / SHARES));
  };

  if (form) {
    form.addEventListener("editor:changed", total);
    form.addEventListener("editor:adding", (event) => {
      event.detail.querySelector("[data-weight]")?.setAttribute("value", usual());
    });
    form.querySelector("[data-shares]").addEventListener("click", (event) => {
      event.preventDefault();
      const fields = weights().filter(sound);
      shares(fields.map((field) => Number(field.value))).forEach((share, place) => {
        fields[place].value = share;
      });
      form.dispatchEvent(new Event("editor:changed"));
      form.querySelector("[data-announce]").textContent = "The weights add up to 1.";
    });
    total();
  }
}
