// Wavelengths over the fibers from one server to another and back: who uses which, and what failed.

const lightOn = { made: null };

// By fiber, jobs by wavelength.
function fiberUse() {
  if (lightOn.made) return lightOn.made;
  lightOn.made = new Map();
  data.jobs.forEach(({ plan }, job) => {
    for (const held of plan ? plan.circuits : []) {
      for (const number of new Set(waysOf(held))) {
        const [channels, fibers] = ways[number].cells;
        for (const fiber of (fibers ?? "").split(", ")) {
          if (!lightOn.made.has(fiber)) lightOn.made.set(fiber, new Map());
          for (const wavelength of numbersOf(channels)) lightOn.made.get(fiber).set(wavelength, job);
        }
      }
    }
  });
  return lightOn.made;
}

function numbersOf(ranges) {
  return ranges.split(", ").flatMap((run) => {
    const [first, last] = run.split("–").map(Number);
    return Array.from({ length: (last ?? first) - first + 1 }, (_, i) => first + i);
  });
}

// The first pair that the selected job lights, unless one is chosen.
function drawWavelengths() {
  const box = el("figure", { id: "wavelengths" });
  if (data.view?.kind !== "fibers" || !data.matrices.racks) return null;
  listeners.push(() => {
    const plan = state.job === null ? null : data.jobs[state.job].plan;
    const fiber = plan && plan.circuits.flatMap((held) => [...new Set(waysOf(held))].map((way) => ways[way].cells[1])).find((each) => each?.includes(">"));
    if (fiber) showFibers(...fiber.split(", ")[0].split("#")[0].split(">").map(serverNumber));
    else if (!box.children.length) box.replaceChildren(el("p", { class: "key" }, "Choose two servers above to see the wavelengths of their fibers."));
  });
  return box;
}

function serverNumber(name) {
  const found = name.match(/^(?:r(\d+)\.)?s(\d+)$/);
  return found ? Number(found[1] ?? 0) * data.fabric.servers + Number(found[2]) : 0;
}

function showFibers(from, to) {
  const box = part("wavelengths");
  const rack = rackOf(from), count = data.fabric.servers;
  const both = [[from, to], [to, from]].map(([a, b]) => [a, b, pairOf(rack, a % count, b % count)]).filter(([, , pair]) => pair);
  if (!box || !both.length) return;
  const rows = both.flatMap(([a, b, pair]) => Array.from({ length: pair.fibers }, (_, i) => {
    const name = `${serverName(a)}>${serverName(b)}#${i}`;
    return { name, isFailed: pair.failed.includes(name), used: fiberUse().get(name) ?? new Map() };
  }));
  box.replaceChildren(el("figcaption", {}, `Wavelengths on the fibers of ${serverName(from)} and ${serverName(to)}`), el("div", { class: "rack" }, fiberPicture(rows)));
}

function fiberPicture(rows) {
  const count = data.view.wavelengths, side = Math.max(5, Math.min(20, 420 / count));
  const label = 14 + 6.8 * Math.max(...rows.map(({ name }) => name.length));
  const [width, height] = [label + count * side + 4, 16 + rows.length * (side + 3)];
  const picture = svg("svg", { class: "matrix", viewBox: `0 0 ${width} ${height}`, width, role: "group", "aria-label": "Wavelengths by fiber; arrow keys move" });
  picture.style.maxWidth = "100%";
  for (let w = 0; w < count; w += Math.max(1, Math.ceil(16 / side))) picture.append(svg("text", { x: label + (w + 0.5) * side, y: 8, "text-anchor": "middle" }, String(w)));
  const nodes = rows.flatMap(({ name, isFailed, used }, i) => {
    const y = 16 + i * (side + 3);
    picture.append(svg("text", { x: label - 6, y: y + side / 2, "text-anchor": "end" }, name));
    return Array.from({ length: count }, (_, w) => {
      const job = used.get(w) ?? null;
      const node = jobSpot(label + w * side, y, side, isFailed ? "failed" : job === null ? "free" : "taken", job);
      picture.append(node);
      return describe(node, [`${name}, wavelength ${w}`, isFailed ? "the fiber failed" : job === null ? "dark" : `${job + 1} ${data.jobs[job].name}`]);
    });
  });
  roving(nodes, (node, key) => nodes[nodes.indexOf(node) + { ArrowRight: 1, ArrowLeft: -1, ArrowDown: count, ArrowUp: -count }[key]]);
  return picture;
}

// A spot in the colour of the job that holds it, in other pictures than the floor plan.
function jobSpot(x, y, side, kind, job) {
  const node = svg("g", { class: `spot ${kind}`, role: "img" }, svg("rect", { x: x + 0.5, y: y + 0.5, width: side - 1, height: side - 1, rx: Math.min(3, side / 5) }));
  if (job === null) return node;
  node.dataset.job = job;
  node.firstChild.style.fill = kind === "failed" ? "" : colour(job);
  const text = String(job + 1);
  if (side >= 6 + 7 * text.length) {
    const number = svg("text", { x: x + side / 2, y: y + side / 2 + 1, "text-anchor": "middle", "font-size": 11 }, text);
    number.style.fill = inkOn(colour(job));
    node.append(number);
  }
  return on(node, "click", () => select(job));
}

function markSpots() {
  document.querySelectorAll(".spot[data-job]").forEach((node) => node.classList.toggle("mine", Number(node.dataset.job) === state.job));
}
