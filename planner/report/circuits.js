// Circuits of the selected job in one of its configurations, as arcs over the rack and as a table.

let circuitNodes = [];
const MOST_ARCS = 120, ROWS_A_PAGE = 200;

function shownConfiguration() {
  const plan = state.job === null ? null : data.jobs[state.job].plan;
  return plan ? plan.circuits[state.configuration] || null : null;
}

// Its circuits, made once.
function shownCircuits() {
  const shown = shownConfiguration();
  return shown ? (shown.made ??= circuitsOf(shown)) : [];
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
  return el("label", { class: "chip plain" }, input, el("span", {}, `${dimension} ${count} · ${plural(waysOf({ circuits }).length, "circuit")}`));
}

function drawCircuit(circuit) {
  return drawArc(placeOfDevice.get(circuit.from), placeOfDevice.get(circuit.to), circuit.kind, circuit);
}

function drawArc(from, to, kind, { source, destination, width: count, lines, from: start, to: end }) {
  if (from && to && (from.picture !== to.picture || (from.x === to.x && from.y === to.y))) return null;
  if (!from && !to) return null;
  const isBeyond = kind === "beyond";
  const width = Math.min(4.5, 1.1 + 0.6 * Math.sqrt(count));
  const d = from && to ? arc(from, to) : stub(from ?? to, Boolean(to));
  const head = data.fabric.light.is_duplex ? {} : { "marker-end": `url(#head${isBeyond ? "-fiber" : ""})` };
  const node = svg("g", { class: isBeyond ? "circuit fiber" : "circuit", role: "img" },
    svg("path", { class: "halo", d, "stroke-width": width + 3.5 }),
    svg("path", { class: "light", d, "stroke-width": width, ...head }),
    svg("path", { class: "reach", d }));
  node.ends = [start ?? source, end ?? destination];
  (from ?? to).picture.querySelector(".circuits").append(node);
  return describe(node, lines);
}

// A circuit whose other end is not in the picture: a short line out of its accelerator, or into it.
function stub({ x, y }, isInto) {
  const [near, far] = [`${x + (isInto ? -5 : 5)} ${y - TILE * 0.36}`, `${x + (isInto ? -11 : 11)} ${y - TILE * 0.72}`];
  return isInto ? `M${far} L${near}` : `M${near} L${far}`;
}

// Too many to draw one by one: an arc for each pair of servers.
function bundled(circuits) {
  const bundles = new Map();
  for (const circuit of circuits) {
    if (typeof circuit.from !== "number" || typeof circuit.to !== "number") continue;
    const [one, other] = [serverOf(circuit.from), serverOf(circuit.to)];
    const [from, to] = [panelOfServer.get(one), panelOfServer.get(other)];
    if (!from || !to || one === other) continue;
    const key = `${one}>${other}`;
    const bundle = bundles.get(key) ?? { ends: [from, to], circuits: 0, width: 0, source: serverName(one), destination: serverName(other) };
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

// Of the configuration those that have an end in the pictures.
function circuitsInView() {
  return shownCircuits().filter(({ from, to }) => placeOfDevice.has(from) || placeOfDevice.has(to));
}

function drawCircuits() {
  const circuits = circuitsInView();
  const isLarge = circuits.length > MOST_ARCS;
  const bundles = isLarge ? bundled(circuits) : [];
  clearCircuits();
  if (!isLarge) circuitNodes = circuits.map(drawCircuit).filter(Boolean);
  else if (bundles.length <= MOST_ARCS) circuitNodes = bundles.map((bundle) => drawArc(...bundle.ends, "beyond", bundle)).filter(Boolean);
  part("floor").classList.toggle("many", circuitNodes.length > 40);
  const drawn = part("drawn");
  if (drawn) drawn.textContent = drawnText(circuits.length, isLarge ? bundles.length : 0);
  roving(circuitNodes, inOrder(circuitNodes));
  document.querySelectorAll("#floor .rack > svg.plan").forEach(fitCircuits);
  fillTables();
}

// Arcs that leave the servers' picture widen it, so that none is cut off.
function fitCircuits(picture) {
  const group = picture.querySelector(".circuits");
  const [width, height] = picture.whole;
  let [left, top, right, bottom] = [0, 0, width, height];
  if (group.children.length) {
    const box = group.getBBox();
    [left, top] = [Math.min(left, box.x - 8), Math.min(top, box.y - 8)];
    [right, bottom] = [Math.max(right, box.x + box.width + 8), Math.max(bottom, box.y + box.height + 8)];
  }
  picture.setAttribute("viewBox", `${left} ${top} ${right - left} ${bottom - top}`);
  picture.setAttribute("width", right - left);
}

function drawnText(count, bundles) {
  const elsewhere = shownCircuits().length - count;
  const isBundled = bundles > 0 && bundles <= MOST_ARCS;
  const parts = count <= MOST_ARCS ? [] : [isBundled ? "Drawn from server to server, all are in the matrix below" : "All are in the matrix below", "point at an accelerator for its own"];
  if (elsewhere && shownCircuits().length) parts.push(`${plural(elsewhere, "circuit")} of this configuration outside this picture`);
  return parts.length ? `${parts.join("; ")}.` : "";
}

function clearCircuits() {
  document.querySelectorAll("#floor .rack .circuits").forEach((group) => group.replaceChildren());
  circuitNodes = [];
}

// Bring out the circuits that end at one accelerator, which are drawn for it where they are many; null brings out all.
function pointCircuits(device) {
  const circuits = circuitsInView();
  if (circuits.length > MOST_ARCS) {
    if (device === null) return drawCircuits();
    const own = circuits.filter(({ from, to }) => from === device || to === device);
    if (!own.length) return undefined;
    clearCircuits();
    circuitNodes = own.map(drawCircuit).filter(Boolean);
    return undefined;
  }
  const touched = circuitNodes.filter((node) => node.ends.includes(device));
  document.querySelectorAll("#floor .rack .circuits").forEach((group) => group.classList.toggle("pointed", touched.length > 0));
  for (const node of circuitNodes) node.classList.toggle("on", touched.includes(node));
  return undefined;
}

const listed = [];

// A table that is made when it is opened, of the selected job; a long one page by page.
function listing(id, columns, rowsOf, titleOf) {
  const summary = el("summary"), scroll = el("div", { class: "scroll" });
  const details = el("details", { id }, summary);
  const page = pages(ROWS_A_PAGE, (from, to) => {
    const head = el("tr", {}, ...columns.map((name) => el("th", { scope: "col" }, name)));
    const lines = details.rows.slice(from, to).map((cells) => el("tr", {}, ...cells.map((text) => el("td", {}, text))));
    scroll.replaceChildren(el("table", {}, el("thead", {}, head), el("tbody", {}, ...lines)));
  });
  details.append(page.node, scroll);
  const fill = () => {
    details.rows = rowsOf();
    details.hidden = details.rows.length === 0;
    summary.textContent = titleOf(details.rows);
    if (details.open) page.show(details.rows.length);
    else scroll.replaceChildren();
  };
  on(details, "toggle", fill);
  listed.push(fill);
  return details;
}

function circuitTables() {
  const { has_circuits: hasCircuits, has_memory_circuits: hasMemory, light } = data.fabric;
  const circuits = () => shownCircuits().map(({ cells }) => cells);
  const memory = () => (state.job === null ? null : data.jobs[state.job].plan)?.memory ?? [];
  const units = (rows) => new Set(rows.flatMap((cells) => cells[3].split(", "))).size;
  return [
    hasCircuits ? listing("circuit-table", light.columns, circuits, () => "These circuits as a table") : "",
    hasMemory ? listing("memory-table", ["accelerator", "rail", "port of the tray", "memory units", "on in"], memory,
      (rows) => `${plural(rows.length, "memory circuit")} of this job to ${plural(units(rows), "memory unit")}`) : "",
  ];
}

function fillTables() {
  for (const fill of listed) fill();
}
