// What of the floor is looked at: everything, a pod of many racks, a rack (or part of a large one), or one server.

const view = { pod: 0, section: 0, server: null, listeners: [] };

const sections = sectionsOf(data.fabric, serverName);
const isWhole = sections.length === 1 || devicesInAll <= MOST_TILES;
const pods = Array.from({ length: Math.ceil(sections.length / MOST_MINIS) }, (_, pod) => sections.slice(pod * MOST_MINIS, (pod + 1) * MOST_MINIS));

const sectionOf = (server) => sections.findIndex(({ first, count }) => server >= first && server < first + count);
const podOf = (section) => Math.floor(section / MOST_MINIS);
const podName = (pod) => `${pod[0].short} to ${pod[pod.length - 1].short}`;

function lookAt({ section = view.section, server = null, pod = podOf(section) }) {
  Object.assign(view, { section, server, pod });
  hideTip();
  for (const listener of view.listeners) listener();
}

// Sections that are drawn in full now, as racks of servers with their tiles.
function shownRacks() {
  if (view.server !== null) return [rackOfServers(`Server ${serverName(view.server)}`, view.server, 1)];
  return (isWhole ? sections : [sections[view.section]]).map(({ name, first, count }) => rackOfServers(sections.length > 1 ? name : "", first, count));
}

function rackOfServers(name, first, count) {
  const servers = Array.from({ length: count }, (_, i) => ({
    name: serverName(first + i),
    tiles: Array.from({ length: slots }, (_, slot) => tileOf((first + i) * slots + slot)),
  }));
  return { name, servers };
}

function tileOf(device) {
  const state = failedDevices.has(device) ? "failed" : darkDevices.has(device) ? "dark" : "ok";
  return { name: deviceName(device), device, state, jobs: holders[device] ?? [] };
}

function zoomOut() {
  if (view.server !== null) return lookAt({ section: view.section });
  document.querySelector(".mini.on")?.focus();
  return undefined;
}

function crumbs() {
  const nav = el("nav", { class: "crumbs", "aria-label": "What is drawn" });
  const step = (text, go) => on(el("button", { type: "button" }, text), "click", go);
  const fill = () => {
    const { name } = sections[view.section];
    const way = [];
    if (pods.length > 1) way.push(step(podName(pods[view.pod]), () => document.querySelector(".mini.on")?.focus()));
    if (view.server !== null) way.push(step(isWhole ? "All servers" : name, () => lookAt({ section: view.section })), el("b", {}, `Server ${serverName(view.server)}`));
    else way.push(el("b", {}, isWhole ? "" : name));
    nav.replaceChildren(...way.flatMap((each, i) => (i ? [" › ", each] : [each])));
    nav.hidden = isWhole && view.server === null;
  };
  view.listeners.push(fill);
  fill();
  return nav;
}
