// A field that finds a job, a server or an accelerator by its name and shows it.

const MOST_FOUND = 8;

function searchField() {
  const found = el("ul", { class: "found", role: "listbox", "aria-label": "Found" });
  const field = el("input", { type: "search", placeholder: "Find a job, server or accelerator", "aria-label": "Find a job, server or accelerator", autocomplete: "off", spellcheck: "false" });
  const fill = () => found.replaceChildren(...findNamed(field.value.trim()).map(({ kind, name, show }) => el("li", {},
    on(el("button", { type: "button" }, el("span", { class: "soft" }, kind), ` ${name}`), "click", () => {
      show();
      found.replaceChildren();
      field.value = name;
    }))));
  on(field, "input", fill);
  on(field, "keydown", (event) => {
    if (event.key === "Escape") found.replaceChildren();
    if (event.key === "ArrowDown") found.querySelector("button")?.focus();
    if (event.key === "Enter") found.querySelector("button")?.click();
  });
  on(document, "keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input, textarea, select")) return;
    field.focus();
    event.preventDefault();
  });
  roveFound(found, field);
  return el("div", { class: "search" }, field, found);
}

function roveFound(found, field) {
  on(found, "keydown", (event) => {
    const buttons = [...found.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    if (event.key === "ArrowDown") buttons[Math.min(at + 1, buttons.length - 1)].focus();
    else if (event.key === "ArrowUp") (at ? buttons[at - 1] : field).focus();
    else if (event.key === "Escape") field.focus();
    else return;
    event.preventDefault();
  });
}

// Exact names first, then those that begin so, then those that have it inside.
function findNamed(text) {
  if (!text) return [];
  const wanted = text.toLowerCase();
  const found = [[], [], []];
  const offer = (kind, name, show) => {
    const at = name.toLowerCase().indexOf(wanted);
    if (at < 0) return;
    const rank = name.length === wanted.length ? 0 : at === 0 ? 1 : 2;
    if (found[rank].length < MOST_FOUND) found[rank].push({ kind, name, show });
  };
  data.jobs.forEach(({ name }, job) => offer("job", name, () => select(job)));
  for (let server = 0; server < devicesInAll / slots; server++) offer("server", serverName(server), () => lookAt({ section: sectionOf(server), server }));
  if (wanted.includes(`.${data.floor.letter}`)) {
    for (let device = 0; device < devicesInAll; device++) offer("accelerator", deviceName(device), () => showDevice(device));
  }
  return found.flat().slice(0, MOST_FOUND);
}

function showDevice(device) {
  const [owner] = holders[device] ?? [];
  if (owner) select(owner[0]);
  lookAt({ section: sectionOf(serverOf(device)) });
  focusTile(device);
}

function focusTile(device) {
  tileNodes.find((node) => Number(node.dataset.device) === device)?.focus();
}
