// Circuits of the selected job in one of its configurations, as arcs over the rack and as a table.

let circuitNodes = [];

function shownConfiguration() {
  const plan = state.job === null ? null : data.jobs[state.job].plan;
  return plan ? plan.circuits[state.configuration] || null : null;
}

function configurationChooser() {
  const chooser = el("div", { class: "configurations", "aria-live": "polite" });
  const fill = () => {
    const plan = state.job === null ? null : data.jobs[state.job].plan;
    const held = plan ? plan.circuits : [];
    const note = !data.fabric.has_circuits ? "Packets are switched: this fabric has no circuits."
      : !plan ? "The selected job has no circuits." : !held.length ? "This job needs no circuits." : "Circuits";
    const chips = el("fieldset", { class: "chips", "aria-label": "Configuration of circuits" });
    held.forEach((configuration, i) => chips.append(configurationChip(configuration, i)));
    chooser.replaceChildren(el("span", { class: "soft small" }, note), chips);
  };
  listeners.push(fill);
  return chooser;
}

function configurationChip({ dimension, number: count, circuits }, i) {
  const input = el("input", { type: "radio", name: "configuration", value: i });
  input.checked = i === state.configuration;
  on(input, "change", () => {
    state.configuration = i;
    drawCircuits();
    markMatrices();
  });
  return el("label", { class: "chip plain" }, input, el("span", {}, `${dimension} ${count} · ${plural(circuits.length, "circuit")}`));
}

function drawCircuit(circuit) {
  const [from, to] = [placeOfDevice.get(circuit.source), placeOfDevice.get(circuit.destination)];
  if (!from || !to || from.picture !== to.picture) return null;
  const isFiber = circuit.fibers.length > 0;
  const width = Math.min(4.5, 1.1 + 0.6 * Math.sqrt(circuit.wavelengths.length));
  const d = arc(from, to);
  const node = svg("g", { class: isFiber ? "circuit fiber" : "circuit", role: "img" },
    svg("path", { class: "halo", d, "stroke-width": width + 3.5 }),
    svg("path", { class: "light", d, "stroke-width": width, "marker-end": `url(#head${isFiber ? "-fiber" : ""})` }),
    svg("path", { class: "reach", d }));
  node.ends = [circuit.source, circuit.destination];
  from.picture.querySelector(".circuits").append(node);
  return describe(node, [
    `${circuit.source} → ${circuit.destination}`,
    `${plural(circuit.wavelengths.length, "wavelength")}: ${ranges(circuit.wavelengths)}`,
    isFiber ? `fiber ${circuit.fibers.join(", ")}` : "inside the server",
    lossText(circuit),
  ]);
}

function lossText({ loss_db: loss }) {
  if (loss === null) return "loss unknown: no such path";
  const budget = data.fabric.loss_budget_db;
  return `loss ${number(loss)} dB${budget === null ? "" : ` of ${number(budget)} dB`}`;
}

function ranges(values) {
  const runs = [];
  for (const value of [...values].sort((a, b) => a - b)) {
    const last = runs[runs.length - 1];
    if (last && value === last[1] + 1) last[1] = value;
    else runs.push([value, value]);
  }
  return runs.map(([a, b]) => (a === b ? `${a}` : `${a}–${b}`)).join(", ");
}

function drawCircuits() {
  document.querySelectorAll("#floor .rack .circuits").forEach((group) => group.replaceChildren());
  const shown = shownConfiguration();
  const circuits = shown ? shown.circuits : [];
  circuitNodes = circuits.map(drawCircuit).filter(Boolean);
  part("floor").classList.toggle("many", circuits.length > 40);
  roving(circuitNodes, inOrder(circuitNodes));
  fillCircuitTable(circuits);
}

// Bring out the circuits that end at one tile; null brings out all.
function pointCircuits(name) {
  const touched = circuitNodes.filter((node) => node.ends.includes(name));
  document.querySelectorAll("#floor .rack .circuits").forEach((group) => group.classList.toggle("pointed", touched.length > 0));
  for (const node of circuitNodes) node.classList.toggle("on", touched.includes(node));
}

function circuitTable() {
  if (!data.fabric.has_circuits) return null;
  return el("details", { id: "circuit-table" }, el("summary", {}, "These circuits as a table"), el("div", { class: "scroll" }));
}

function fillCircuitTable(circuits) {
  const details = part("circuit-table");
  if (!details) return;
  details.hidden = circuits.length === 0;
  const head = ["from", "to", "wavelengths", "fiber", "loss"].map((name) => el("th", { scope: "col" }, name));
  const rows = circuits.map((circuit) => el("tr", {},
    ...[circuit.source, circuit.destination, ranges(circuit.wavelengths), circuit.fibers.join(", ") || "–"].map((text) => el("td", {}, text)),
    el("td", {}, circuit.loss_db === null ? "–" : `${number(circuit.loss_db)} dB`)));
  details.querySelector(".scroll").replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows)));
}
