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
  const refill = () => grid.replaceChildren(...shownRuns().map(floorOf).filter(Boolean));
  view.listeners.push(refill);
  refill();
}

function floorOf(run) {
  const snapshot = data.snapshots.at[view.condition][run][shownMoment.index];
  if (!snapshot) return null;
  const floor = data.floors[data.runs[run].cluster];
  const held = snapshot.owner.filter((place) => place >= 0).length;
  const [spare, failed, dark] = [new Set(snapshot.spare), new Set(snapshot.failed), new Set(snapshot.dark)];
  let device = 0;
  const tile = (name, x, y) => {
    const index = device++;
    const place = snapshot.owner[index];
    const kind = failed.has(index) ? "failed" : place < 0 ? "free" : "taken";
    const job = place < 0 ? null : snapshot.jobs[place];
    const node = tileNode(kind, name, x, y, job && job[0] - 1);
    if (dark.has(index)) node.append(...darkMark(x, y));
    if (spare.has(index)) node.classList.add("spare");
    return describe(node, [name, failed.has(index) ? "failed" : "", job ? jobText(job) : place < 0 && !failed.has(index) ? "free" : "", spare.has(index) ? "held beside what the job asked for" : ""]);
  };
  const look = { label: `${runText(run)}: accelerators by job; arrow keys move`, tile, act: () => {} };
  const racks = floor.racks.map((rack) => el("div", { class: "rack" }, drawRack(rack, floor.fabric, look).picture));
  const told = `${number(held)} of ${number(snapshot.owner.length)} held by ${plural(snapshot.jobs.length, "job")}${failed.size ? `, ${plural(failed.size, "accelerator")} failed` : ""}, at ${meanText(TIME, snapshot.at_s, null)}`;
  return el("figure", {}, el("figcaption", {}, runName(run), el("span", { class: "soft" }, told)), ...racks, waitingList(snapshot));
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
