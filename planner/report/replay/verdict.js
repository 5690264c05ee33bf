// A card for each load: what to do, with the figures behind it.

const FINDINGS = {
  better: ["better", "good", "the interval leaves out 0"],
  worse: ["worse", "bad", "the interval leaves out 0"],
  slight: ["below 1 %", "", "the interval leaves out 0, but the difference is below 1 %"],
  level: ["not told apart", "", "cannot be told apart: the interval holds 0"],
  same: ["the same", "", "no seed differs"],
  unknown: ["no interval", "warn", "one seed: no interval"],
};

function drawVerdicts() {
  part("verdict").append(el("div", { class: "cards" }, ...data.verdicts.map(verdictCard)), el("p", { class: "key" }, data.rule));
}

function verdictCard(verdict, condition) {
  const { choice, stays, seeds, lines, warnings } = verdict;
  const other = lines.find((line) => line.other !== null)?.other ?? null;
  const act = seeds < 2 ? "Not decided: one seed, no interval" : stays ? "Stay with" : "Take";
  const compared = other === null ? null : stays ? "the best other in each line" : runName(other);
  const title = el("h2", {}, capital(data.conditions[condition].name));
  const head = el("div", { class: "advice" }, el("span", { class: `badge ${seeds < 2 ? "warn" : "good"}` }, act), runName(choice),
    compared ? el("span", { class: "soft" }, "compared with ", compared) : null);
  const names = ["", "this", stays ? "best other" : "baseline", "difference", ""];
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...names.map((name, i) => el(name ? "th" : "td", { scope: name ? "col" : null, class: i && i < 4 ? "right" : null }, name)))),
    el("tbody", {}, ...lines.map((line) => verdictLine(line, choice, stays))));
  return el("section", { class: "card" }, title, head, el("div", { class: "scroll" }, table),
    warnings.length ? el("ul", { class: "warnings" }, ...warnings.map((text) => el("li", {}, text))) : null);
}

function verdictLine({ measure: name, value, other, other_value: otherValue, less, finding, best }, choice, stays) {
  const measure = byName.get(name);
  const [word, kind, why] = FINDINGS[less[0] === 0 && less[1] === 0 ? "same" : finding];
  const badge = other === null ? "" : describe(el("span", { class: `badge ${kind}`, tabindex: 0 }, word), [word, why]);
  const title = describe(el("span", { class: "help", tabindex: 0 }, measure.title), meaningOf(measure));
  const both = [value[0], otherValue ? otherValue[0] : null];
  const otherCell = otherValue === null ? "–" : el("span", {}, stays && other !== null ? glyph(other) : "", meanText(measure, otherValue[0], null, inOneUnit(otherValue[0], both)));
  const note = best !== choice && best !== other ? el("div", { class: "small soft" }, `best mean: ${runText(best)}`) : null;
  return el("tr", {}, el("th", { scope: "row" }, title), el("td", { class: "right" }, meanText(measure, value[0], null, inOneUnit(value[0], both))),
    el("td", { class: "right" }, otherCell),
    el("td", { class: "right" }, other === null ? "–" : describe(relativeText(less, otherValue), ["this less the other, paired by seed", differenceText(measure, ...less), otherValue[0] ? "in the table: in per cent of the other" : ""])),
    el("td", {}, badge, note));
}
