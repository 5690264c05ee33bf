// The header, and the order in which the page is drawn.

function checkFact() {
  if (data.violations === null) return fact("Check", "–", "no plan to check");
  if (!data.violations.length) return fact("Check", "0 violations", "confirmed without the solver", "good");
  return fact("Check", plural(data.violations.length, "violation"), "do not deploy", "bad");
}

function levelFact({ objective, meaning, value, bound, gap, status, tolerance }, i) {
  const proof = status === "OPTIMAL" ? "optimal" : bound === null ? "no bound" : `bound ${number(bound, 4)}, gap ${percent(gap)}`;
  const spare = tolerance ? `, ${percent(tolerance)} may be spent` : "";
  const node = fact(`${i + 1}. ${objective}`, number(value, 4), proof + spare);
  node.title = meaning;
  return node;
}

// Shares below this are 0 in what is shown.
const EQUAL = 5e-5;
const more = (share) => `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`;

// 11 of 12 jobs at 55.3 kW, +41 % value and +38 % work over best fit; proven optimal.
function outcomeText({ admitted, jobs, power_w: power, proof, more_value: value, more_work: work }) {
  const isLevel = value !== null && [value, work].every((share) => Math.abs(share) < EQUAL);
  const gain = value === null ? [] : [isLevel ? "as much value and work as best fit" : `${more(value)} value and ${more(work)} work over best fit`];
  return `${[`${number(admitted)} of ${plural(jobs, "job")} at ${quantity(power, "W")}`, ...gain].join(", ")}; ${proof}.`;
}

function workFact({ more_work: work }) {
  const node = Math.abs(work) < EQUAL ? fact("Work", "as much", "as best fit") : fact("Work", more(work), "over best fit");
  node.title = "speed of each job as a share of its reference, by default its fastest, times its weight, summed";
  return node;
}

function drawHeader() {
  const { totals, status, outcome } = data;
  const isSound = outcome && !data.violations?.length;
  const [first, ...rest] = isSound ? [outcomeText(outcome), ...data.headline] : data.headline;
  const beside = outcome && outcome.more_work !== null ? outcome : null;
  const words = { OPTIMAL: "optimal", FEASIBLE: "feasible", INFEASIBLE: "infeasible", NO_PLAN: "no plan" };
  const text = el("div", { class: "what" }, el("h1", {}, data.name), data.description ? el("p", { class: "soft" }, data.description) : null,
    el("p", { class: "headline" }, el("b", {}, first), ` ${rest.join(" ")}`));
  const kind = status === "OPTIMAL" ? "good" : status === "FEASIBLE" ? "" : "bad";
  const facts = el("dl", { class: "facts" },
    fact("Status", words[status], `${data.run.policy}, ${quantity(data.run.wall_time_s, "s")}`, kind),
    checkFact(),
    fact("Jobs", `${totals.admitted} of ${totals.jobs}`, totals.moved ? `${totals.moved} moved` : beside ? `${number(beside.best_fit_admitted)} by best fit` : "run"),
    beside ? workFact(beside) : "",
    fact("Accelerators", `${totals.used} of ${totals.healthy}`, totals.devices > totals.healthy ? `${totals.devices - totals.healthy} failed` : "all healthy"),
    data.violations === null ? "" : fact("Power", quantity(totals.power_w, "W"), beside ? `${quantity(beside.best_fit_power_w, "W")} by best fit` : "of the jobs that run"),
    ...data.levels.map(levelFact));
  part("top").append(el("div", { class: "title" }, text, themeButton()), facts);
  if (data.violations && data.violations.length) part("top").append(notice("The check found:", data.violations, "breaches"));
  const why = data.left_out.filter(({ reason }) => data.violations === null && reason).map(({ name, reason }) => `${name}: ${reason}`);
  if (why.length) part("top").append(notice("Why there is no plan:", why, "breaches why"));
}

function firstJob() {
  const withCircuits = data.jobs.findIndex((job) => job.plan && job.plan.circuits.length > 0);
  return withCircuits >= 0 ? withCircuits : Math.max(0, data.jobs.findIndex((job) => job.plan));
}

drawHeader();
drawFloor();
listeners.push(drawJob);
drawPool();
drawPortMaps();
drawTable();
drawLeftOut();
drawConvergence();
drawRun();
select(firstJob());
