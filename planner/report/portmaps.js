// Optical switches: each as a list of its ports that are joined, with the job that they are joined for.

const portRows = [];
const MAPS_A_PAGE = 24;

function drawPortMaps() {
  if (!data.port_maps || !data.port_maps.switches.length) return;
  const { ends, switches, has_ports: hasPorts, left_out: leftOut } = data.port_maps;
  const joined = switches.map(() => []);
  const named = (number) => endName(ends[number]);
  for (const row of unpackRows(data.port_maps.joined)) joined[row.switch].push({ ...row, source: named(row.source), destination: named(row.destination) });
  const maps = switches.map((name, i) => ({ name, joined: joined[i].sort((a, b) => byNumber(a.from || a.source, b.from || b.source)) }));
  const section = part("ports"), box = el("div", { class: "port-maps" });
  const page = pages(MAPS_A_PAGE, (from, to) => {
    portRows.length = 0;
    box.replaceChildren(...maps.slice(from, to).map((map) => portMap(map, hasPorts, maps.length <= 12)));
    markPorts();
  });
  section.hidden = false;
  const key = `${hasPorts ? "input port → output port, what is plugged in there" : "input → output"}, and the job; those of the selected job stand out`;
  section.append(el("h2", { id: "ports-title" }, "Ports of the optical switches"), el("p", { class: "key" }, key), page.node, box,
    leftOut ? el("p", { class: "soft" }, `${number(leftOut)} more cross-connects are left out for size; planner export --format crossconnects writes all.`) : "");
  listeners.push(() => {
    page.showRow(maps.findIndex((map) => map.joined.some(({ job }) => job === state.job)));
    markPorts();
  });
  page.show(maps.length);
}

const byNumber = new Intl.Collator("en", { numeric: true }).compare;

function portMap({ name, joined }, hasPorts, isOpen) {
  const jobs = new Set(joined.map(({ job }) => job));
  const body = el("tbody");
  const titles = [...(hasPorts ? ["ports"] : []), "from", "to", "job"];
  const details = el("details", { open: isOpen },
    el("summary", {}, el("b", {}, name), ` ${plural(joined.length, "cross-connect")}, ${plural(jobs.size, "job")} `, portStrip(name, joined)),
    el("table", {}, el("thead", {}, el("tr", {}, ...titles.map((title) => el("th", { scope: "col" }, title)))), body));
  const fill = () => {
    if (!details.open || body.children.length) return;
    body.append(...joined.map((row) => portRow(row, hasPorts)));
    markPorts();
  };
  on(details, "toggle", fill);
  fill();
  return details;
}

// What is joined in the colours of jobs, in the order of the inputs.
function portStrip(name, joined) {
  const side = 9, across = 40;
  const [width, height] = [Math.min(joined.length, across) * side, Math.ceil(joined.length / across) * side];
  const picture = svg("svg", { class: "strip", viewBox: `0 0 ${width} ${height}`, width, "aria-hidden": "true" });
  joined.forEach(({ job }, i) => picture.append(jobSpot((i % across) * side, Math.floor(i / across) * side, side, "taken", job)));
  return picture;
}

function portRow({ from, to, source, destination, job }, hasPorts) {
  const ports = hasPorts ? [el("td", { class: "num" }, `${from || "–"} → ${to || "–"}`)] : [];
  const row = el("tr", {}, ...ports, el("td", {}, source), el("td", {}, destination), el("td", {}, swatch(job), " ", data.jobs[job].name));
  portRows.push({ row, job });
  return on(row, "click", () => select(job));
}

function markPorts() {
  for (const { row, job } of portRows) row.classList.toggle("selected", job === state.job);
  markSpots();
}
