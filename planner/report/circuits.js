// Circuits of the selected job in one of its configurations, as arcs over the rack and as a table.

let circuitNodes = [];
const MOST_ARCS = 120, MOST_ROWS = 2000;

function shownConfiguration() {
  const plan = state.job === null ? null : data.jobs[state.job].plan;
  return plan ? plan.circuits[state.configuration] || null : null;
}

function configurationChooser() {
  const chooser = el("div", { class: "configurations", "aria-live": "polite" });
  const fill = () => {
    const plan = state.job === null ? null : data.jobs[state.job].plan;
    const held = plan ? plan.circuits : [];
    const note = data.fabric.light.why ? data.fabric.light.why
      : !plan ? "The selected job has no circuits." : !held.length ? "This job needs none of the circuits between its accelerators." : "Circuits";
    const chips = el("fieldset", { class: "chips", "aria-label": "Configuration of circuits" });
    held.forEach((configuration, i) => chips.append(configurationChip(configuration, i)));
    chooser.replaceChildren(el("span", { class: "soft small" }, note), chips, el("span", { class: "soft small", id: "drawn" }));
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
  return drawArc(placeOfDevice.get(circuit.source), placeOfDevice.get(circuit.destination), circuit.kind, circuit);
}

function drawArc(from, to, kind, { source, destination, width: count, lines }) {
  if (!from || !to || from.picture !== to.picture || (from.x === to.x && from.y === to.y)) return null;
  const isBeyond = kind === "beyond";
  const width = Math.min(4.5, 1.1 + 0.6 * Math.sqrt(count));
  const d = arc(from, to);
  const head = data.fabric.light.is_duplex ? {} : { "marker-end": `url(#head${isBeyond ? "-fiber" : ""})` };
  const node = svg("g", { class: isBeyond ? "circuit fiber" : "circuit", role: "img" },
    svg("path", { class: "halo", d, "stroke-width": width + 3.5 }),
    svg("path", { class: "light", d, "stroke-width": width, ...head }),
    svg("path", { class: "reach", d }));
  node.ends = [source, destination];
  from.picture.querySelector(".circuits").append(node);
  return describe(node, lines);
}

// Too many to draw one by one: an arc for each pair of servers.
function bundled(circuits) {
  const bundles = new Map();
  for (const circuit of circuits) {
    const [from, to] = [panelOfDevice.get(circuit.source), panelOfDevice.get(circuit.destination)];
    if (!from || !to || from.server === to.server) continue;
    const key = `${from.server}>${to.server}`;
    const bundle = bundles.get(key) ?? { from, to, circuits: 0, width: 0, source: from.server, destination: to.server };
    bundle.circuits += 1;
    bundle.width += circuit.width;
    bundles.set(key, bundle);
  }
  for (const bundle of bundles.values()) {
    const sign = data.fabric.light.is_duplex ? "↔" : "→";
    bundle.lines = [`${bundle.source} ${sign} ${bundle.destination}`, plural(bundle.circuits, "circuit")];
  }
  return [...bundles.values()];
}

function drawCircuits() {
  const shown = shownConfiguration();
  const circuits = shown ? shown.circuits : [];
  const isLarge = circuits.length > MOST_ARCS;
  const bundles = isLarge ? bundled(circuits) : [];
  clearCircuits();
  if (!isLarge) circuitNodes = circuits.map(drawCircuit).filter(Boolean);
  else if (bundles.length <= MOST_ARCS) circuitNodes = bundles.map((bundle) => drawArc(bundle.from, bundle.to, "beyond", bundle)).filter(Boolean);
  part("floor").classList.toggle("many", circuitNodes.length > 40);
  part("drawn").textContent = !isLarge ? ""
    : `${bundles.length > MOST_ARCS ? "Too many to draw" : "Drawn from server to server, without those inside one"}: point at an accelerator for its own circuits.`;
  roving(circuitNodes, inOrder(circuitNodes));
  fillTables();
}

function clearCircuits() {
  document.querySelectorAll("#floor .rack .circuits").forEach((group) => group.replaceChildren());
  circuitNodes = [];
}

// Bring out the circuits that end at one tile, which are drawn for it where they are many; null brings out all.
function pointCircuits(name) {
  const shown = shownConfiguration();
  if (shown && shown.circuits.length > MOST_ARCS) {
    if (name === null) return drawCircuits();
    const own = shown.circuits.filter(({ source, destination }) => source === name || destination === name);
    if (!own.length) return undefined;
    clearCircuits();
    circuitNodes = own.slice(0, MOST_ARCS).map(drawCircuit).filter(Boolean);
    return undefined;
  }
  const touched = circuitNodes.filter((node) => node.ends.includes(name));
  document.querySelectorAll("#floor .rack .circuits").forEach((group) => group.classList.toggle("pointed", touched.length > 0));
  for (const node of circuitNodes) node.classList.toggle("on", touched.includes(node));
  return undefined;
}

const listed = [];

// A table that is made when it is opened, of the selected job.
function listing(id, columns, rowsOf, titleOf) {
  const summary = el("summary"), scroll = el("div", { class: "scroll" });
  const details = el("details", { id }, summary, scroll);
  const fill = () => {
    const rows = rowsOf();
    details.hidden = rows.length === 0;
    summary.textContent = titleOf(rows) + (rows.length > MOST_ROWS ? `, the first ${number(MOST_ROWS)}` : "");
    const head = el("tr", {}, ...columns.map((name) => el("th", { scope: "col" }, name)));
    const lines = details.open ? rows.slice(0, MOST_ROWS).map((cells) => el("tr", {}, ...cells.map((text) => el("td", {}, text)))) : [];
    scroll.replaceChildren(el("table", {}, el("thead", {}, head), el("tbody", {}, ...lines)));
  };
  on(details, "toggle", fill);
  listed.push(fill);
  return details;
}

function circuitTables() {
  const { has_circuits: hasCircuits, has_memory_circuits: hasMemory, light } = data.fabric;
  const circuits = () => shownConfiguration()?.circuits.map(({ cells }) => cells) ?? [];
  const memory = () => (state.job === null ? null : data.jobs[state.job].plan)?.memory ?? [];
  const units = (rows) => new Set(rows.flatMap((cells) => cells[3].split(", "))).size;
  return [
    hasCircuits ? listing("circuit-table", light.columns, circuits, () => "These circuits as a table") : "",
    hasMemory ? listing("memory-table", ["accelerator", "rail", "port of the tray", "memory units", "on in"], memory,
      (rows) => `${plural(rows.length, "memory circuit")} of this job, not drawn, to ${plural(units(rows), "memory unit")}`) : "",
  ];
}

function fillTables() {
  for (const fill of listed) fill();
}
