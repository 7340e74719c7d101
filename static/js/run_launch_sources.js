// Sources of the launch form: rows are added and removed in place, and chosen files become rows.
{
  const form = document.getElementById("launch-form");
  const list = form?.querySelector("[data-sources]");
  const files = form?.elements.source_files;
  const changed = () => form.dispatchEvent(new Event("change", { bubbles: true }));

  const label = (row) => {
    const [name, text] = [row.querySelector("[name=source_name]").value.trim(), row.querySelector("[name=source_text]").value];
    row.querySelector("[data-source-name]").textContent = name || (text ? "Unnamed source" : "New source");
    const unit = text.length === 1 ? "character" : "characters";
    row.querySelector("[data-source-length]").textContent = text ? `${text.length.toLocaleString("en")} ${unit}` : "";
  };

  const isEmpty = (row) => [...row.querySelectorAll("input[name=source_name], textarea")].every((field) => !field.value.trim());

  const add = (name = "", text = "") => {
    const row = form.querySelector("[data-source-template]").content.firstElementChild.cloneNode(true);
    row.querySelector("[name=source_name]").value = name;
    row.querySelector("[name=source_text]").value = text;
    row.querySelector("details").open = !text;
    list.append(row);
    label(row);
    return row;
  };

  // Files that are not UTF-8 text stay chosen: the server says what is wrong with them.
  const read = async () => {
    const left = new DataTransfer();
    for (const file of [...files.files]) {
      try {
        const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
        if (!text.trim() || text.includes("\0")) throw new Error("not a text");
        [...list.children].filter(isEmpty).forEach((row) => row.remove());
        add(file.name, text.replace(/\r\n?/g, "\n"));
      } catch {
        left.items.add(file);
      }
    }
    files.files = left.files;
    changed();
  };

  if (form) {
    files.addEventListener("change", read);
    form.querySelector("[data-source-add]").addEventListener("click", (event) => {
      event.preventDefault();
      const row = [...list.children].find(isEmpty) ?? add();
      row.querySelector("details").open = true;
      row.querySelector("[name=source_name]").focus();
    });
    list.addEventListener("input", (event) => label(event.target.closest("[data-source]")));
    list.addEventListener("change", (event) => {
      if (!event.target.matches("[name=source_remove]")) return;
      event.target.closest("[data-source]").remove();
      form.querySelector("[data-source-add]").focus();
      changed();
    });
  }
}
