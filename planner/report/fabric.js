// What only one kind of fabric has, beside the floor plan: named by `data.view.kind`.

const OWN_VIEWS = { digits: drawDigits, pool: drawTrays, rings: drawRings };

function ownView() {
  const draw = data.view && OWN_VIEWS[data.view.kind];
  if (!draw) return null;
  const figure = el("figure", { id: "own-view" });
  const fill = () => {
    figure.replaceChildren(...draw(serversShown()));
    markSpots();
  };
  view.listeners.push(fill);
  listeners.push(fill);
  return figure;
}

// The server that is looked at; else those of the selected job in the racks that are drawn, else the first of these.
function serversShown() {
  if (view.server !== null) return [view.server];
  const plan = state.job === null ? null : data.jobs[state.job].plan;
  const own = plan ? [...new Set(plan.devices.filter((device) => device >= 0).map(serverOf))] : [];
  const inView = own.filter((server) => isWhole || sectionOf(server) === view.section);
  return inView.length ? inView : [sections[isWhole ? 0 : view.section].first];
}

const digitsOf = (slot) => Array.from({ length: data.view.digits }, (_, d) => Math.floor(slot / data.view.radix ** d) % data.view.radix);

// Where an accelerator lies in the terms of its fabric.
function fabricLines(device) {
  const slot = device % slots, { kind } = data.view ?? {};
  if (kind === "rails") return [`rail q${slot}`];
  if (kind === "box") {
    const [, y, z] = data.view.sides;
    const at = [Math.floor(slot / (y * z)), Math.floor(slot / z) % y, slot % z];
    const spot = (places) => places.map((place, axis) => `${"xyz"[axis]} ${place}`).join(", ");
    const { boards } = data.view;
    return [spot(at), ...(boards ? [`board ${spot(at.map((place, axis) => Math.floor(place / boards[axis])))}`] : [])];
  }
  if (kind === "digits") return [`digits ${digitsOf(slot).reverse().join(" ")}, the highest first`];
  if (kind === "pool") {
    const reached = [...(poolUse().devices.get(device) ?? [])];
    return reached.length ? [`${plural(new Set(reached.flatMap(({ units }) => units)).size, "memory unit")} through ${plural(new Set(reached.map(({ port }) => port)).size, "port")} of trays`] : [];
  }
  return [];
}

function deviceSpot(device, x, y, side, lines = []) {
  const [owner] = holders[device] ?? [];
  const node = jobSpot(x, y, side, failedDevices.has(device) ? "failed" : owner ? "taken" : "free", owner ? owner[0] : null);
  const who = failedDevices.has(device) ? "failed" : owner ? `${owner[0] + 1} ${data.jobs[owner[0]].name}, rank ${owner[1]}` : "free";
  return describe(node, [deviceName(device), who, ...lines]);
}

// For each digit its switches, each with the ports of the accelerators that differ in this digit alone.
function drawDigits([server]) {
  const { radix, digits } = data.view;
  const side = slots > 256 ? 6 : 15, width = radix * side, across = Math.max(1, Math.floor(420 / (width + 6)));
  const plan = state.job === null ? null : data.jobs[state.job].plan;
  const held = plan ? plan.devices.filter((device) => device >= 0 && serverOf(device) === server).map((device) => digitsOf(device % slots)) : [];
  const pictures = Array.from({ length: digits }, (_, i) => digits - 1 - i).map((digit) => {
    const firsts = Array.from({ length: slots }, (_, slot) => slot).filter((slot) => digitsOf(slot)[digit] === 0);
    const picture = svg("svg", { viewBox: `0 0 ${across * (width + 6)} ${Math.ceil(firsts.length / across) * (side + 5)}`, width: across * (width + 6), role: "group", "aria-label": `Switches of digit ${digit}` });
    picture.style.maxWidth = "100%";
    const nodes = firsts.flatMap((first, number) => Array.from({ length: radix }, (_, value) => {
      const slot = first + value * radix ** digit;
      const node = deviceSpot(server * slots + slot, (number % across) * (width + 6) + value * side, Math.floor(number / across) * (side + 5), side, [`port of digit ${digit}, which is ${value}`, ...fabricLines(slot)]);
      picture.append(node);
      return node;
    }));
    roving(nodes, inOrder(nodes));
    const values = new Set(held.map((each) => each[digit]));
    const own = !held.length ? "" : values.size === 1 ? `: the job has value ${[...values][0]}` : `: the job has ${values.size === radix ? "all" : values.size} of ${radix} values`;
    return el("div", {}, el("p", { class: "key" }, `Digit ${digit}${own}`), picture);
  });
  return [el("figcaption", {}, `Switches of ${serverName(server)} by digit: ports in a row belong to one switch`), ...pictures];
}

// Devices around each kind of ring of a node, and the memory nodes between them.
function drawRings(servers) {
  const [server] = servers;
  const kinds = new Map();
  data.view.rings.forEach((gap, ring) => {
    const key = gap.join();
    if (!kinds.has(key)) kinds.set(key, []);
    kinds.get(key).push(ring);
  });
  const figures = [...kinds].map(([key, rings]) => {
    const gap = key.split(",").map(Number);
    const what = gap.some(Boolean) ? "with memory nodes" : "accelerators alone";
    return el("div", {}, ringPicture(server, gap), el("p", { class: "key" }, `${rings.length > 1 ? "rings" : "ring"} ${rangesOf(rings)}: ${what}`));
  });
  const more = servers.length > 1 ? `, one of the ${servers.length} servers of the job` : "";
  return [el("figcaption", {}, `Rings of ${serverName(server)}${more}`), el("div", { class: "rings" }, ...figures),
    el("p", { class: "key" }, "square: accelerator · circle: memory node")];
}

function ringPicture(server, gap) {
  const stops = [];
  for (let slot = 0; slot < slots; slot++) {
    stops.push(slot);
    for (let i = 0; i < gap[slot % gap.length]; i++) stops.push(null);
  }
  const side = 22, radius = Math.max(46, (stops.length * (side + 5)) / (2 * Math.PI)), size = 2 * radius + side + 8;
  const picture = svg("svg", { class: "ring", viewBox: `0 0 ${size} ${size}`, width: Math.min(size, 260), role: "group", "aria-label": "Ring" });
  picture.append(svg("circle", { class: "way", cx: size / 2, cy: size / 2, r: radius }));
  const nodes = stops.map((slot, i) => {
    const angle = (2 * Math.PI * i) / stops.length - Math.PI / 2;
    const [x, y] = [size / 2 + radius * Math.cos(angle), size / 2 + radius * Math.sin(angle)];
    const near = stops.slice(0, i).filter((stop) => stop !== null).pop();
    const node = slot !== null ? deviceSpot(server * slots + slot, x - side / 2, y - side / 2, side)
      : describe(svg("g", { class: "spot free", role: "img" }, svg("circle", { class: "memory", cx: x, cy: y, r: side / 3 })),
        ["memory node", `between ${deviceName(server * slots + near)} and ${deviceName(server * slots + ((near + 1) % slots))}`]);
    picture.append(node);
    return node;
  });
  roving(nodes, inOrder(nodes));
  return picture;
}
