// The header, and who has the most value where: by how much, how sure, and what the plan gives and takes.

const LEAD_FIGURES = ["admitted", "tokens_per_s", "samples_per_s", "power_w", "cost_per_h"].filter((name) => byName.has(name));

function drawLeads() {
  const hasConditions = data.conditions.length > 1;
  const isContest = policies.length > 1;
  const heads = [hasConditions ? "variant" : "", isContest ? "most value" : data.ground, "value", "proof", isContest ? "more than" : ""].filter(Boolean);
  const figures = ["value", ...LEAD_FIGURES.map((name) => byName.get(name).title)];
  const table = el("table", { class: "measures" }, el("thead", {}, el("tr", {}, ...[...heads, ...figures.slice(1)].map((name) => el("th", { scope: "col", class: figures.includes(name) ? "right" : null }, name)))),
    el("tbody", {}, ...data.leads.map((lead) => leadRow(lead, hasConditions))));
  part("leads").append(el("h2", { id: "leads-title" }, isContest ? "Most value" : `Each ${data.ground}`), data.leads.length ? el("div", { class: "scroll" }, table) : el("p", { class: "soft" }, "No plan that the check accepts."));
}

function leadRow({ condition, best, ties, other, more, interval, gap }, hasConditions) {
  const figure = (name) => {
    const measure = byName.get(name);
    const [mean, halfWidth] = data.table[condition][best][measure.index];
    return el("td", { class: "right" }, meanText(measure, mean, halfWidth));
  };
  const proof = gap === null ? "no bound" : gap <= 5e-5 ? el("span", { class: "badge good" }, "optimal") : `within ${percent(gap)}`;
  const sure = interval[1] === null || Math.abs(interval[0]) > interval[1] ? "" : " (not told apart)";
  return el("tr", {}, hasConditions ? el("th", { scope: "row" }, data.conditions[condition].name) : null,
    el("td", {}, runName(best), ties.length ? el("div", { class: "small soft" }, `as much: ${ties.join(", ")}`) : null), figure("value"), el("td", {}, proof),
    policies.length === 1 ? null : el("td", {}, other === null ? "–" : el("span", {}, el("b", {}, more === null ? "all" : `+${percent(more)}`), ` ${data.runs[other].policy}${sure}`)),
    ...LEAD_FIGURES.map(figure));
}
