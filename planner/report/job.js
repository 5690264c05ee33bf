// The selected job: what it runs, where and how, and where its time and energy go.

function drawJob() {
  const job = data.jobs[state.job];
  const title = el("div", { class: "job-title" }, swatch(state.job), el("h2", { id: "job-title" }, job.name), pager());
  const badges = el("p", {}, stateBadge(job), " ", el("span", { class: "soft" }, `tenant ${job.tenant}${job.is_required ? " · required" : ""}`));
  const body = job.plan ? placedBody(job) : [
    requestList(job),
    el("div", { class: "reason" }, el("b", {}, "Not placed. "), job.reason || "The plan gives no reason; `planner explain` finds one."),
  ];
  part("job").replaceChildren(title, badges, ...body);
}

function stateBadge(job) {
  const texts = {
    "new": ["good", "starts with this plan"], "stays": ["good", "runs already, stays"],
    "moved": ["warn", "runs already, moves"], "left out": ["bad", "left out"],
  };
  const [kind, text] = texts[job.state];
  return el("span", { class: `badge ${kind}` }, text);
}

function pager() {
  const count = data.jobs.length;
  const turn = (step, sign, label) => on(el("button", { type: "button", "aria-label": label, title: label }, sign), "click", () => {
    select((state.job + step + count) % count);
    part("job").querySelector(`[aria-label="${label}"]`).focus();
  });
  return el("div", { class: "pager" }, turn(-1, "‹", "Previous job"), turn(1, "›", "Next job"));
}

function pairs(entries) {
  return el("dl", { class: "pairs" }, ...entries.filter(([, value]) => value).flatMap(([name, value]) => [
    el("dt", {}, name), el("dd", {}, value),
  ]));
}

function requestList(job) {
  return pairs([
    ["Runs", `${job.model}, ${job.kind}`],
    ["With", job.options.join(" · ")],
    ["Asks for", `${job.sizes} accelerators`],
    ["Weight", `${number(job.weight)} (${job.utility} utility)`],
  ]);
}

const DEGREES = [["tensor", "tp"], ["pipeline", "pp"], ["data", "dp"], ["context", "cp"], ["expert", "ep"]];

function mappingText(mapping) {
  const degrees = DEGREES.filter(([name]) => mapping[name] > 1 && name !== "expert");
  const whole = degrees.map(([name]) => `${name} ${mapping[name]}`).join(" × ") || "one accelerator";
  const text = mapping.expert > 1 ? `${whole}, of data ${mapping.expert} for experts` : whole;
  const blocks = mapping.block > 1 ? ` · blocks of ${mapping.block} in one server` : "";
  return `${text} · micro-batch ${mapping.micro_batch}${blocks}`;
}

function shortMapping(mapping) {
  const degrees = DEGREES.filter(([name]) => mapping[name] > 1);
  return degrees.map(([name, short]) => short + mapping[name]).join(" ") || "1 accelerator";
}

// The unit of work of a speed in tokens/s is the token.
function workUnit(plan) {
  return plan.speed_unit.replace(/s?\/s$/, "");
}

function placedBody(job) {
  const plan = job.plan;
  const where = whereOf(plan.devices).map(([server, taken]) => `${server}: ${taken}`).join("; ");
  const facts = pairs([
    ["Runs", `${job.model}, ${job.kind}`],
    ["With", job.options.join(" · ")],
    ["Mapping", [mappingText(plan.mapping), ...plan.choices].join(" · ")],
    ["Memory", plan.memory_text],
    ["Pools", (plan.pools || []).join(" · ")],
    ["Second tier", plan.kept_away],
    ["Turns of circuits", plan.turns],
    ["Light of boards", plan.links],
    ...(plan.phases ? [["Phases", `${plan.phases.settings.join(" · ")} (${(100 * plan.phases.gain).toFixed(1)} % faster than one setting)`]] : []),
    ["Collectives", plan.collectives.map(({ dimension, name }) => `${dimension}: ${name}`).join(" · ") || "none"],
    ["Accelerators", `${plan.devices.length} (asked for ${job.sizes}) on ${where}`],
    ["Speed", quantity(plan.speed, plan.speed_unit)],
    ["Value", `${number(plan.value)} ${job.has_reference ? `against its reference, which is worth` : "of at most"} ${number(job.weight)}, its weight (${job.utility} utility)`],
  ]);
  const problem = plan.problem ? el("p", { class: "reason" }, `The cost model rejects this configuration: ${plan.problem}`) : null;
  return [
    facts, problem,
    split("Time of one step", plan.time_s, "s", quantity(plan.step_s, "s")),
    split("Energy of one step", plan.energy_j, "J", `${quantity(plan.energy_per_work_j, "J")} per ${workUnit(plan)} · ${quantity(plan.power_w, "W")}`),
    plan.second_tier ? drawTier(plan.second_tier) : null,
    plan.roofline ? drawRoofline(plan.roofline) : null,
  ].filter(Boolean);
}

function split(title, entries, unit, total) {
  const heading = el("h3", {}, el("span", {}, title), el("span", { class: "num" }, total));
  if (!entries) return el("div", { class: "split" }, heading);
  const sum = entries.reduce((all, [, value]) => all + value, 0);
  const present = entries.filter(([, value]) => value > 0);
  const bar = el("div", { class: "bar", role: "img", "aria-label": `${title}: ${present.map(([name, value]) => `${name} ${percent(value / sum)}`).join(", ")}` });
  const list = el("ul", { class: "parts" });
  for (const [name, value] of present) {
    const piece = el("span", { title: `${name} ${quantity(value, unit)}` });
    piece.style.flex = `${value / sum} 1 0`;
    piece.style.background = PARTS[name];
    const mark = el("i", { "aria-hidden": "true" });
    mark.style.background = PARTS[name];
    bar.append(piece);
    list.append(el("li", {}, mark, el("span", {}, name), el("span", { class: "num" }, quantity(value, unit)), el("span", { class: "num soft" }, value < sum / 1000 ? "< 0.1 %" : percent(value / sum))));
  }
  return el("div", { class: "split" }, heading, bar, list);
}
