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

function drawHeader() {
  const { totals, status } = data;
  const [first, ...rest] = data.headline;
  const words = { OPTIMAL: "optimal", FEASIBLE: "feasible", INFEASIBLE: "infeasible", NO_PLAN: "no plan" };
  const text = el("div", { class: "what" }, el("h1", {}, data.name), data.description ? el("p", { class: "soft" }, data.description) : null,
    el("p", { class: "headline" }, el("b", {}, first), ` ${rest.join(" ")}`));
  const kind = status === "OPTIMAL" ? "good" : status === "FEASIBLE" ? "" : "bad";
  const facts = el("dl", { class: "facts" },
    fact("Status", words[status], `${data.run.policy}, ${quantity(data.run.wall_time_s, "s")}`, kind),
    checkFact(),
    fact("Jobs", `${totals.admitted} of ${totals.jobs}`, totals.moved ? `${totals.moved} moved` : "run"),
    fact("Accelerators", `${totals.used} of ${totals.healthy}`, totals.devices > totals.healthy ? `${totals.devices - totals.healthy} failed` : "all healthy"),
    data.violations === null ? "" : fact("Power", quantity(totals.power_w, "W"), "of the jobs that run"),
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
