// Trays of pooled memory: units and ports in the colours of their jobs, and the memory circuits of the selected job.

const poolMade = { use: null };
const MOST_LINES = 400;

// Who reaches what: circuits by accelerator, by port and by unit.
function poolUse() {
  if (poolMade.use) return poolMade.use;
  const use = { devices: new Map(), ports: new Map(), units: new Map(), jobs: new Map() };
  const add = (map, key, circuit) => (map.has(key) ? map.get(key).push(circuit) : map.set(key, [circuit]));
  const numbers = new Map(Array.from({ length: devicesInAll }, (_, device) => [deviceName(device), device]));
  data.jobs.forEach(({ plan }, job) => {
    for (const [name, rail, port, units, phase] of plan ? plan.memory : []) {
      const circuit = { job, device: numbers.get(name), name, rail, port, units: units.split(", "), phase };
      add(use.devices, circuit.device, circuit);
      add(use.ports, port, circuit);
      add(use.jobs, job, circuit);
      circuit.units.forEach((unit) => add(use.units, unit, circuit));
    }
  });
  return (poolMade.use = use);
}

function drawTrays(servers) {
  const most = 2;
  const figures = servers.slice(0, most).map((server) => el("div", { class: "rack" }, trayPicture(server)));
  const more = servers.length > most ? `, ${servers.length - most} more servers of the job: choose one by its name` : "";
  return [el("figcaption", {}, `Trays of ${servers.slice(0, most).map(serverName).join(", ")}${more}`), ...figures,
    el("p", { class: "key" }, "above: accelerators of the selected job and its memory circuits · in each tray: its ports on each rail, below them its units")];
}

function trayPicture(server) {
  const { trays, units, ports, local_rails: rails } = data.view;
  const side = 15, inTray = ports * rails;
  const wide = Math.max(1, Math.min(Math.max(inTray, Math.ceil(Math.sqrt(units * 2))), 16));
  const portRows = Math.ceil(inTray / wide), unitRows = Math.ceil(units / wide);
  const [width, height] = [wide * side + 12, (portRows + unitRows) * side + 30];
  const across = Math.max(1, Math.min(trays, Math.floor(580 / (width + 10))));
  const plan = state.job === null ? null : data.jobs[state.job].plan;
  const own = plan ? plan.devices.filter((device) => device >= 0 && serverOf(device) === server) : [];
  const perRow = Math.max(1, Math.floor((across * (width + 10)) / (side + 3)));
  const top = own.length ? Math.ceil(own.length / perRow) * (side + 3) + 46 : 4;
  const size = [across * (width + 10), top + Math.ceil(trays / across) * (height + 10)];
  const picture = svg("svg", { class: "trays", viewBox: `0 0 ${size.join(" ")}`, width: size[0], role: "group", "aria-label": `Memory trays of ${serverName(server)}; arrow keys move` });
  picture.style.maxWidth = "100%";
  const lines = svg("g", { class: "lines", "aria-hidden": "true" });
  const places = new Map();
  const nodes = own.map((device, i) => {
    const [x, y] = [(i % perRow) * (side + 3), Math.floor(i / perRow) * (side + 3)];
    places.set(device, [x + side / 2, y + side]);
    return deviceSpot(device, x, y, side, fabricLines(device));
  });
  for (let tray = 0; tray < trays; tray++) {
    const [x, y] = [(tray % across) * (width + 10), top + Math.floor(tray / across) * (height + 10)];
    const name = `${serverName(server)}.m${tray}`;
    picture.append(svg("rect", { class: "panel", x, y, width, height, rx: 5 }), svg("text", { class: "label", x: x + 6, y: y + 12 }, name));
    for (let i = 0; i < inTray; i++) {
      const port = `${name}.q${Math.floor(i / ports)}#${i % ports}`;
      const at = [x + 6 + (i % wide) * side, y + 18 + Math.floor(i / wide) * side];
      places.set(port, [at[0] + side / 2, at[1]]);
      nodes.push(partSpot(port, poolUse().ports.get(port), ...at, side, `rail q${Math.floor(i / ports)}`));
    }
    for (let i = 0; i < units; i++) {
      const unit = `${name}.u${i}`;
      nodes.push(partSpot(unit, poolUse().units.get(unit), x + 6 + (i % wide) * side, y + 24 + portRows * side + Math.floor(i / wide) * side, side, "memory unit"));
    }
  }
  picture.append(lines, ...nodes);
  drawMemoryCircuits(lines, places);
  roving(nodes, inOrder(nodes));
  return picture;
}

// A port or a unit: failed, free, or with the job that has it, and who reaches it.
function partSpot(name, circuits, x, y, side, what) {
  const isFailed = data.fabric.failed_memory.includes(name);
  const job = circuits ? circuits[0].job : null;
  const node = jobSpot(x, y, side, isFailed ? "failed" : job === null ? "free" : "taken", job);
  const by = circuits ? [...new Set(circuits.map((each) => each.name))] : [];
  return describe(node, [name, what, isFailed ? "failed" : job === null ? "free" : `${job + 1} ${data.jobs[job].name}`, by.length ? `reached by ${by.slice(0, 8).join(", ")}${by.length > 8 ? ` and ${by.length - 8} more` : ""}` : ""]);
}

function drawMemoryCircuits(lines, places) {
  const circuits = (poolUse().jobs.get(state.job) ?? []).filter(({ device, port }) => places.has(device) && places.has(port));
  if (circuits.length > MOST_LINES) return;
  for (const { device, port } of circuits) {
    const [[x, y], [u, v]] = [places.get(device), places.get(port)];
    lines.append(svg("path", { d: `M${x} ${y} C${x} ${y + 24} ${u} ${v - 24} ${u} ${v}` }));
  }
}
