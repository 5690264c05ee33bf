// A floor that is too large for one drawing: its parts as small maps, of which the chosen one is drawn in full below.

const parts = { all: [], chosen: 0, minis: [] };

const partOf = (server) => parts.all.findIndex(({ first, count }) => server >= first && server < first + count);

// The chooser of parts; null where all of the floor is drawn at once.
function drawParts(choosePart) {
  const { fabric, server_names: names, owner } = live.body;
  parts.all = sectionsOf(fabric, (server) => names[server]);
  if (parts.all.length === 1 || owner.length <= MOST_TILES) return null;
  parts.minis = parts.all.map((section, index) => {
    const shape = miniShape(section.count, fabric), { canvas, scale } = miniCanvas(shape);
    const node = el("button", { type: "button", class: "mini" }, canvas, el("span", {}, section.short));
    on(node, "click", () => {
      parts.chosen = index;
      choosePart();
      paintParts();
    });
    on(node, "mouseenter focus", () => showTip(node, partLines(section)));
    on(node, "mouseleave blur", hideTip);
    return { node, canvas, scale, shape, section };
  });
  const nodes = parts.minis.map(({ node }) => node);
  roving(nodes, inOrder(nodes), (node) => node.click());
  on(prefersDark, "change", paintParts);
  new MutationObserver(paintParts).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return el("div", { class: "minis", role: "group", "aria-label": "Parts of the floor: arrow keys move, Enter shows one" }, ...nodes);
}

function paintParts() {
  if (!parts.minis.length) return;
  const inks = spotInks(), { owner, jobs, fabric } = live.body, shown = shownJob();
  const colours = jobs.map((job, i) => (i === shown ? inks.edge : colour(job.number)));
  const look = (device) => {
    const job = owner[device];
    const fill = live.failed.has(device) ? inks.failed : job < 0 ? inks.free : colours[job];
    return { fill, isFaint: shown >= 0 && job >= 0 && job !== shown };
  };
  for (const [index, mini] of parts.minis.entries()) {
    paintSpots(mini, fabric.devices_per_server, look);
    mini.node.classList.toggle("on", index === parts.chosen);
    mini.node.setAttribute("aria-label", mini.section.name);
  }
}

function partLines({ name, first, count }) {
  const { owner, fabric: { devices_per_server: per }, drained } = live.body;
  let free = 0, failed = 0;
  for (let device = first * per; device < (first + count) * per; device++) {
    if (live.failed.has(device)) failed++;
    else if (owner[device] < 0) free++;
  }
  const shut = drained.filter((server) => server >= first && server < first + count).length;
  return [name, `${number(free)} of ${plural(count * per, "accelerator")} free`, failed ? `${number(failed)} failed` : "", shut ? `${plural(shut, "server")} drained` : ""].filter(Boolean);
}
