// Variants: outcomes side by side, which are kept by name, and the page of two of them.

const comparing = { first: null, second: null };
const nameOf = (variant) => studio.variants.find(({ number: own }) => own === variant)?.name ?? "";
const FIGURES = [
  ["value", (v) => number(v.value, 4)], ["bound", (v) => number(v.bound, 4)], ["gap", (v) => (v.gap === null ? "–" : percent(v.gap))],
  ["jobs", (v) => `${v.admitted} of ${v.jobs}`], ["tokens/s", (v) => (v.tokens_per_s === null ? "–" : quantity(v.tokens_per_s, ""))],
  ["samples/s", (v) => (v.samples_per_s === null ? "–" : quantity(v.samples_per_s, ""))],
  ["power", (v) => quantity(v.power_w, "W")], ["accelerators", (v) => `${v.devices_used} of ${v.devices_healthy}`], ["solve time", (v) => quantity(v.wall_time_s, "s")],
];

function drawVariants() {
  followers.push(() => {
    const { variants } = studio;
    const shown = FIGURES.filter(([title]) => title !== "samples/s" || variants.some((v) => v.samples_per_s !== null));
    const line = (title, cell) => el("tr", {}, el("th", { scope: "row" }, title), ...variants.map((variant) => el("td", { class: variant.number === studio.shown ? "selected" : null }, cell(variant))));
    const table = el("table", {}, el("tbody", {}, line("", nameCell), ...shown.map(([title, write]) => line(title, write)), line("", deeds)));
    refill(part("variants"), el("h2", { id: "variants-title" }, "Variants"),
      variants.length ? el("div", { class: "scroll" }, table) : el("p", { class: "soft" }, "Each plan that you solve stands here; keep one to set others beside it."),
      variants.length > 1 ? pairChooser() : null);
  });
}

function nameCell(variant) {
  const status = { OPTIMAL: "good", FEASIBLE: "" }[variant.status] ?? "bad";
  return [button(variant.name, () => show(variant.number), { class: "name", "data-key": `show-${variant.number}`, "aria-pressed": String(variant.number === studio.shown) }),
    el("div", {}, el("span", { class: `badge ${status}` }, variant.repair ? "repaired" : variant.status.toLowerCase().replace("_", " ")),
      variant.is_kept ? null : el("span", { class: "soft small" }, " not kept"))];
}

function deeds(variant) {
  const listed = (body) => {
    studio.variants = body;
    changed();
  };
  const told = async (path, more) => {
    const { isFine, body } = await ask(path, { variant: variant.number, ...more });
    if (isFine) listed(body);
    else part("variants").append(el("p", { class: "problem", role: "alert" }, inWords(body)));
  };
  const rename = async () => {
    const name = prompt("Name of the variant", variant.name)?.trim();
    if (name) await told("api/keep", { name });
  };
  return el("span", { class: "buttons" },
    variant.is_kept ? button("Rename", rename, { "aria-label": `Rename ${variant.name}` }) : button("Keep", () => told("api/keep", { name: variant.name }), { "aria-label": `Keep ${variant.name}`, "data-key": `keep-${variant.number}` }),
    button("Edit", () => edit("api/edit", { variant: variant.number }), { "aria-label": `Edit the file of ${variant.name}`, title: "edit its file" }),
    button("Drop", () => told("api/drop", {}), { "aria-label": `Drop ${variant.name}` }));
}

// Two variants on the floor plan of both, as `planner diff --report` shows them.
function pairChooser() {
  const numbers = studio.variants.map((variant) => variant.number);
  if (!numbers.includes(comparing.first)) comparing.first = numbers[0];
  if (!numbers.includes(comparing.second) || comparing.second === comparing.first) comparing.second = numbers.findLast((other) => other !== comparing.first);
  const select = (which, label) => {
    const node = el("select", { "data-key": which, "aria-label": label }, ...studio.variants.map((v) => el("option", { value: v.number }, v.name)));
    node.value = String(comparing[which]);
    return on(node, "change", () => (comparing[which] = Number(node.value)));
  };
  return el("div", { class: "controls" }, select("first", "before"), "→", select("second", "after"),
    button("Compare plans", () => compare(), { id: "compare", "data-key": "compare" }));
}

async function compare() {
  const { first, second } = comparing;
  const answer = await fetch(`plans/${first}/${second}.html`, { cache: "no-store" });
  if (answer.ok) show(second, first);
  else part("variants").append(el("p", { class: "problem", role: "alert" }, inWords(await answer.json())));
}
