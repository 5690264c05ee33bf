// Where the tensors of a job that offloads are while nothing uses them: in one device, as all others do the same.

function drawTier(tier) {
  const sum = (entries) => entries.reduce((all, [, value]) => all + value, 0);
  const bar = (title, entries) => split(title, entries, "B", quantity(sum(entries), "B"));
  const saved = tier.without_s ? `, ${percent(1 - tier.step_s / tier.without_s)} less than without it (${quantity(tier.without_s, "s")})` : "; without it the job does not fit";
  const proof = tier.gap ? `at most ${percent(tier.gap)} from the best` : "proven to be the best";
  const facts = pairs([
    ["Second tier", `${tier.memory}: a step of ${quantity(tier.step_s, "s")} simulated with its copies, ${proof}${saved}`],
    ["Scored", `${quantity(tier.scored_s, "s")}: what speed and value count`],
    ["Simple rules", tier.rules.map(([name, seconds]) => `${name} ${quantity(seconds, "s")}`).join(" · ")],
  ]);
  const rows = tier.tensors.map((each) => el("li", {}, `${each.name}: ${quantity(each.bytes, "B")}, ${placeOf(each)}`));
  return el("section", {},
    facts,
    bar("Memory of one accelerator", tier.own_bytes),
    bar("Second tier of one accelerator", tier.tier_bytes),
    bar("Tensors that may be offloaded, over a step", tier.absent_bytes),
    el("details", {}, el("summary", {}, "Largest tensors"), el("ul", {}, ...rows)));
}

function placeOf({ away, is_remade: isRemade }) {
  if (isRemade) return "recomputed";
  if (away === 0) return "kept";
  return away === 1 ? "offloaded" : `${percent(away)} offloaded`;
}
