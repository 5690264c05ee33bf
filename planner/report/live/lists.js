// Figures at the top, the queue with its reasons, running jobs, the selected job, and what is down.

const TAGS = { room: "too few free", scattered: "scattered", memory: "no memory", light: "no free circuits", quota: "quota", reserved: "kept for another", health: "needs a repair", time: "still searching", refused: "refused" };
const sum = (items, read) => items.reduce((total, item) => total + read(item), 0);

function drawFacts() {
  const { owner, jobs, waiting, num_waiting: count, num_free: free, failed, down, drained, troubles, pool } = live.body;
  const busy = sum(jobs, (job) => job.size), working = owner.length - failed.length;
  const [shut, dead, per] = [new Set(drained), new Set(failed), live.body.fabric.devices_per_server];
  const spare = owner.filter((job, index) => job < 0 && !dead.has(index) && shut.has(Math.floor(index / per))).length;
  const told = count > waiting.length ? `of the first ${waiting.length}: ` : "";
  refill(part("facts"),
    fact("In use", percent(working ? busy / working : null), `${number(busy)} of ${number(working)} that work`),
    fact("Free", number(free), spare ? `${number(spare)} on drained servers` : "accelerators"),
    fact("Running", number(jobs.length), "jobs"),
    fact("Waiting", number(count), `${told}${number(sum(waiting, (job) => job.least))} accelerators asked`, ""),
    live.body.fabric.has_circuits ? fact("Circuits", number(sum(jobs, (job) => job.circuits)), troubles.length ? `${plural(troubles.length, "job")} not set` : "held by jobs", troubles.length ? "bad" : undefined) : null,
    pool ? fact("Memory units", percent(sum(pool.units, Number) ? sum(pool.held, Number) / sum(pool.units, Number) : null), `${number(sum(pool.held, Number))} of ${number(sum(pool.units, Number))} that work`) : null,
    fact("Down", number(down.length + drained.length), down.length + drained.length ? `${plural(down.length, "part")}, ${drained.length} drained` : "all parts work", down.length ? "bad" : "good"));
}

function drawQueue() {
  const { waiting, num_waiting: count, reserved } = live.body;
  const kept = reserved.job === null || !reserved.servers.length ? null
    : el("p", { class: "reason small" }, `${serverNames(reserved.servers)} ${reserved.servers.length > 1 ? "are" : "is"} kept for `, el("b", {}, reserved.job),
      reserved.at_s === null ? ", until the jobs there end" : ` and free by ${new Date(reserved.at_s * 1000).toLocaleTimeString()} at the latest, if jobs keep their limits`);
  const rowOf = (job, isPlaced) => el("li", {}, numberSwatch(job.number, isPlaced),
    el("div", {}, el("div", { class: "line" }, el("b", {}, job.name), el("span", { class: "badge warn" }, TAGS[job.tag] ?? job.tag)),
      el("div", { class: "soft small" }, `${sizeText(job)} · ${job.model} · tenant ${job.tenant}${job.priority ? ` · priority ${job.priority}` : ""} · waits `, since(job.arrived_s)),
      el("p", {}, job.because)));
  const rows = waiting.map((job) => rowOf(job, false));
  const growing = live.body.jobs.filter((job) => job.growth).map((job) => rowOf({ ...job.growth, number: job.number }, true));
  refill(part("queue"), el("h2", { id: "queue-title" }, `Queue: ${plural(count, "job")}`), kept,
    rows.length ? el("ol", { class: "waiting" }, ...rows) : el("p", { class: "soft" }, "No job waits."),
    count > waiting.length ? el("p", { class: "soft small" }, `${number(count - waiting.length)} more behind them`) : null,
    growing.length ? el("h3", {}, `Running, and waiting to grow: ${plural(growing.length, "job")}`) : null,
    growing.length ? el("ol", { class: "waiting" }, ...growing) : null);
}

function sizeText({ least, most }) {
  return least === most ? plural(least, "accelerator") : `${number(least)} to ${number(most)} accelerators`;
}

const MOST_TROUBLES = 10, MOST_ROWS = 300;
const troubleOf = (job) => live.body.troubles.find((trouble) => trouble.job === job.name);

function circuitsCell(job) {
  const badge = el("span", { class: "badge bad", title: troubleOf(job)?.said }, "not set");
  return troubleOf(job) ? el("span", {}, badge, ` ${number(job.circuits)}`) : number(job.circuits);
}

function drawJobs() {
  const head = ["#", "job", "tenant", "runs", "accelerators", "circuits", "for", "limit"];
  const isRight = (i) => i >= 4;
  const shown = live.body.jobs.filter((job, i) => i < MOST_ROWS || job.name === live.selected);
  const rows = shown.map((job) => {
    const row = el("tr", { class: live.selected === job.name ? "selected" : null }, ...[numberSwatch(job.number, true), nameButton(job), job.tenant, job.model,
      number(job.size), circuitsCell(job), since(job.started_s), job.limit_s === null ? "–" : span(job.limit_s)]
      .map((cell, i) => el("td", { class: i === 1 ? "name" : isRight(i) ? "right" : null }, cell)));
    return on(row, "click", ({ target }) => target.closest("button") || choose(job.name));
  });
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...head.map((name, i) => el("th", { scope: "col", class: isRight(i) ? "right" : null }, name)))), el("tbody", {}, ...rows));
  refill(part("table"), el("h2", { id: "table-title" }, `Running: ${plural(live.body.jobs.length, "job")}`), rows.length ? el("div", { class: "scroll" }, table) : el("p", { class: "soft" }, "No job runs."),
    rows.length < live.body.jobs.length ? el("p", { class: "soft small" }, `${number(live.body.jobs.length - rows.length)} more, which the floor plan and their tiles show`) : null);
}

function drawChosen() {
  const job = live.body.jobs.find(({ name }) => name === live.selected);
  part("chosen").hidden = !job;
  if (!job) return;
  const mine = live.body.jobs.indexOf(job), per = live.body.fabric.devices_per_server;
  const servers = [...new Set(live.body.owner.flatMap((owner, index) => (owner === mine ? [Math.floor(index / per)] : [])))];
  const pairs = [["runs", `${job.model}, ${job.workload}`], ["tenant", job.tenant], ["mapping", job.configuration], ["accelerators", `${number(job.size)} on ${serverNames(servers, 12)}`],
    ["circuits", job.circuits ? `${number(job.circuits)} in ${plural(job.configurations, "configuration")}` : "none"],
    ...(job.memory.units ? [["memory", `${plural(job.memory.units, "unit")} over ${plural(job.memory.circuits, "circuit")}`]] : []),
    ...(job.growth ? [["waits to grow", `to ${sizeText(job.growth)}: ${job.growth.because}`]] : []),
    ...(troubleOf(job) ? [["not set", el("span", { class: "said" }, troubleOf(job).said)]] : []), ["runs for", since(job.started_s)],
    ["limit", job.limit_s === null ? "none" : span(job.limit_s)], ["waited", span(job.started_s - job.arrived_s)], ["priority", number(job.priority)]];
  const links = job.links.map(([source, destination, count]) => el("tr", {}, el("td", {}, live.body.server_names[source]), el("td", {}, live.body.server_names[destination]), el("td", { class: "right" }, number(count))));
  const head = el("thead", {}, el("tr", {}, ...["from", "to", live.body.fabric.light.channels].map((name, i) => el("th", { scope: "col", class: i === 2 ? "right" : null }, name))));
  refill(part("chosen"), el("div", { class: "job-title" }, numberSwatch(job.number, true), el("h2", { id: "chosen-title" }, job.name),
    on(el("button", { type: "button", "data-key": "\u0000close", "aria-label": "Select no job" }, "×"), "click", () => choose(job.name))),
    el("dl", { class: "pairs" }, ...pairs.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    links.length ? el("details", {}, el("summary", {}, `Circuits between servers: ${plural(links.length, "link")}`), el("div", { class: "scroll" }, el("table", {}, head, el("tbody", {}, ...links)))) : null);
}

function drawHealth() {
  const { down, drained, counts, seq, troubles } = live.body;
  const named = (names) => (names.length ? names.slice(0, 40).join(", ") + (names.length > 40 ? ` and ${names.length - 40} more` : "") : "none");
  const pairs = [["parts down", named(down)], ["drained", named(drained.map((server) => live.body.server_names[server]))],
    ["started", `${number(counts.greedy)} where first found, ${number(counts.rescued)} because others moved`],
    ["moved, stopped", `${number(counts.moves)} moved for others, ${number(counts.preempted)} stopped for others`],
    ["events", number(seq)]];
  if (counts.refused) pairs.push(["refused", `${plural(counts.refused, "place")} by the independent check`]);
  for (const { job, action, said } of troubles.slice(0, MOST_TROUBLES)) pairs.push([`not ${action === "connect" ? "connected" : "released"}`, el("span", { class: "said" }, el("b", {}, job), ` ${said}`)]);
  refill(part("health"), el("h2", { id: "health-title" }, "Health"), el("dl", { class: "pairs small" }, ...pairs.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
}
