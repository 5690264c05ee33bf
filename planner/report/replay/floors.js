// Who holds which accelerator at some moments of the first seed, and who waits.

const shownMoment = { index: 0 };

function drawFloors() {
  const { moments, left_out: leftOut } = data.snapshots;
  const title = el("h2", { id: "floor-title" });
  shownMoment.index = Math.floor((moments.length - 1) / 2);
  const retitle = () => (title.textContent = `Floor plans ${data.conditions[view.condition].at}`);
  view.listeners.push(retitle);
  retitle();
  if (!moments.length) {
    part("floor").append(title, el("p", { class: "soft" }, "No moments were noted (--snapshots)."));
    return;
  }
  const choice = chips("Moment", "radio", moments.map((moment, key) => ({ key, text: `${number(100 * moment)} % of the time` })), (key) => key === shownMoment.index, (key) => {
    shownMoment.index = key;
    changed();
  });
  const grid = el("div", { class: "floors" });
  const marks = [["free", "free"], ["failed", "failed"], ["dark", "failed port"]];
  part("floor").append(el("div", { class: "section-head" }, title, choice), grid,
    el("div", { class: "key" }, ...marks.map(([kind, text]) => el("span", {}, tileMark(kind), text)),
      el("span", {}, `seed ${data.run.seeds[0]}; number and colour: the job, the same in all runs${leftOut ? `; ${plural(leftOut, "later moment")} left out for size` : ""}`)));
  new MutationObserver(() => refill()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  const refill = () => grid.replaceChildren(...shownRuns().map(floorOf).filter(Boolean));
  view.listeners.push(refill);
  refill();
}

function floorOf(run) {
  const snapshot = data.snapshots.at[view.condition][run][shownMoment.index];
  if (!snapshot) return null;
  const { fabric, letter, servers } = data.floors[data.runs[run].cluster];
  const owner = unrolled(snapshot.owner), sections = sectionsOf(fabric, (server) => servers[server]);
  const held = owner.filter((place) => place >= 0).length;
  const at = { snapshot, owner, fabric, letter, servers, failed: new Set(snapshot.failed), dark: new Set(snapshot.dark), spare: new Set(snapshot.spare) };
  const racks = owner.length <= MOST_TILES ? sections.map((section) => rackAt(run, at, section)) : [el("div", { class: "minis" }, ...sections.map((section) => miniAt(at, section)))];
  const told = `${number(held)} of ${number(owner.length)} held by ${plural(snapshot.jobs.length, "job")}${at.failed.size ? `, ${plural(at.failed.size, "accelerator")} failed` : ""}, at ${meanText(TIME, snapshot.at_s, null)}`;
  return el("figure", {}, el("figcaption", {}, runName(run), el("span", { class: "soft" }, told)), ...racks, waitingList(snapshot));
}

function unrolled(repeated) {
  const found = [];
  for (let i = 0; i < repeated.length; i += 2) {
    for (let n = 0; n < repeated[i + 1]; n++) found.push(repeated[i]);
  }
  return found;
}

function rackAt(run, { snapshot, owner, fabric, letter, servers, failed, dark, spare }, { name: title, first, count }) {
  let device = first * fabric.devices_per_server;
  const tile = (name, x, y) => {
    const index = device++, place = owner[index];
    const job = place < 0 ? null : snapshot.jobs[place];
    const node = tileNode(failed.has(index) ? "failed" : place < 0 ? "free" : "taken", name, x, y, job && job[0] - 1);
    if (dark.has(index)) node.append(...darkMark(x, y));
    if (spare.has(index)) node.classList.add("spare");
    return describe(node, [name, failed.has(index) ? "failed" : "", job ? jobText(job) : place < 0 && !failed.has(index) ? "free" : "", spare.has(index) ? "held beside what the job asked for" : ""]);
  };
  const look = { label: `${runText(run)}, ${title}: accelerators by job; arrow keys move`, tile, act: () => {} };
  const slots = [...Array(fabric.devices_per_server).keys()];
  const shown = servers.slice(first, first + count).map((name) => ({ name, tiles: slots.map((slot) => `${name}.${letter}${slot}`) }));
  return el("div", { class: "rack" }, drawRack({ servers: shown }, fabric, look).picture);
}

// A part of a large floor as a map; what it holds is told when it is pointed at.
function miniAt({ snapshot, owner, fabric, failed }, section) {
  const shape = miniShape(section.count, fabric), { canvas, scale } = miniCanvas(shape), inks = spotInks();
  paintSpots({ canvas, section, shape, scale }, fabric.devices_per_server, (device) => {
    const fill = failed.has(device) ? inks.failed : owner[device] < 0 ? inks.free : colour(snapshot.jobs[owner[device]][0] - 1);
    return { fill, isFaint: false };
  });
  const inside = owner.slice(section.first * fabric.devices_per_server, (section.first + section.count) * fabric.devices_per_server);
  const free = inside.filter((place) => place < 0).length, jobs = new Set(inside.filter((place) => place >= 0)).size;
  const node = el("div", { class: "mini", tabindex: 0, role: "img" }, canvas, el("span", {}, section.short));
  return describe(node, [section.name, `${number(free)} of ${plural(inside.length, "accelerator")} not in use`, plural(jobs, "job")]);
}

function jobText([job, name, , tenant, since], verb = "for") {
  return `job ${number(job)}: ${data.snapshots.names[name]}, tenant ${data.snapshots.names[tenant]}, ${verb} ${meanText(TIME, since, null)}`;
}

function waitingList({ waiting, num_waiting: count, asked }) {
  if (!count) return el("p", { class: "soft small" }, "No job waits.");
  const rows = waiting.map(([job, name, size, tenant, since]) => el("tr", {}, el("td", { class: "right" }, number(job)), el("td", {}, data.snapshots.names[name]),
    el("td", { class: "right" }, number(size)), el("td", {}, data.snapshots.names[tenant]), el("td", { class: "right" }, meanText(TIME, since, null))));
  const head = ["job", "runs", "accelerators", "tenant", "waits"].map((name, i) => el("th", { scope: "col", class: i % 2 ? null : "right" }, name));
  return el("details", {}, el("summary", {}, `${plural(count, "job")} wait${count === 1 ? "s" : ""} for ${plural(asked, "accelerator")}${count > waiting.length ? `; the first ${waiting.length}` : ""}`),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows))));
}
