// Optical switches: each as a list of its ports that are joined, with the job that they are joined for.

const portRows = [];

function drawPortMaps() {
  if (!data.port_maps || !data.port_maps.length) return;
  const section = part("ports");
  section.hidden = false;
  section.append(el("h2", { id: "ports-title" }, "Ports of the optical switches"),
    el("p", { class: "key" }, "input port → output port, what is plugged in there, and the job; those of the selected job stand out"),
    el("div", { class: "port-maps" }, ...data.port_maps.map(portMap)));
  listeners.push(markPorts);
}

function portMap({ switch: name, joined }) {
  const sorted = [...joined].sort((a, b) => a.from.localeCompare(b.from, "en", { numeric: true }));
  const jobs = new Set(joined.map(({ job }) => job));
  return el("details", { open: data.port_maps.length <= 12 ? "" : null },
    el("summary", {}, el("b", {}, name), ` ${plural(joined.length, "cross-connect")}, ${plural(jobs.size, "job")}`),
    el("table", {}, el("thead", {}, el("tr", {}, ...["ports", "from", "to", "job"].map((title) => el("th", { scope: "col" }, title)))),
      el("tbody", {}, ...sorted.map(portRow))));
}

function portRow({ from, to, source, destination, job }) {
  const row = el("tr", {}, el("td", { class: "num" }, `${from || "–"} → ${to || "–"}`), el("td", {}, source), el("td", {}, destination),
    el("td", {}, swatch(job), " ", data.jobs[job].name));
  portRows.push({ row, job });
  return on(row, "click", () => select(job));
}

function markPorts() {
  for (const { row, job } of portRows) row.classList.toggle("selected", job === state.job);
}
