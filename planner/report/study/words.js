// Values of measures in words: shares in per cent, times in the unit that fits, half widths in the unit of their mean.

const byName = new Map(data.measures.map((measure, index) => [measure.name, { ...measure, index, hasParts: data.table.flat().some((row) => row[index][0] % 1) }]));

const LARGE = [["M", 1e6], ["k", 1e3]], SMALL = [["", 1], ["m", 1e-3], ["µ", 1e-6]];
const COUNTS = [["M ", 1e6], ["k ", 1e3]];
const PREFIXES = { "s": SMALL.slice(1), "W": LARGE, "Wh": LARGE, "J": [...LARGE, ...SMALL], "tokens/s": COUNTS, "samples/s": COUNTS };

// The unit for values around this one: what one of it is, and how it is written.
function unitOf(measure, value) {
  const size = Math.abs(value ?? 0);
  if (measure.is_share) return { scale: 0.01, text: " %" };
  if (measure.unit === "s" && size >= 1) {
    if (size >= 2 * 86400) return { scale: 86400, text: " d" };
    if (size >= 2 * 3600) return { scale: 3600, text: " h" };
    return size >= 120 ? { scale: 60, text: " min" } : { scale: 1, text: " s" };
  }
  const [prefix, scale] = (PREFIXES[measure.unit] ?? []).find(([, step]) => size >= step) ?? ["", 1];
  return { scale, text: measure.unit ? ` ${prefix}${measure.unit}` : "" };
}

function decimals(value) {
  if (!value) return 0;
  return Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))));
}

function fixed(value, digits) {
  const text = value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return text.replace("-", "−");
}

// 52.1 ± 3.2 %: as many decimals as the mean needs, none of what is counted, and the half width at least one digit; no
// half width where all seeds agree; `beside` sets the unit.
function meanText(measure, mean, halfWidth, beside = mean) {
  if (mean === null) return "–";
  const unit = unitOf(measure, beside);
  const shown = mean / unit.scale;
  const digits = Number.isInteger(shown) && !halfWidth && !measure.hasParts ? 0 : measure.is_share ? 1 : decimals(shown);
  if (!halfWidth || halfWidth < 1e-9 * Math.abs(mean)) return fixed(shown, digits) + unit.text;
  const around = halfWidth / unit.scale;
  const fine = around && around < 0.5 * 10 ** -digits ? Math.min(6, Math.ceil(-Math.log10(around))) : digits;
  return `${fixed(shown, fine)} ± ${fixed(around, fine)}${unit.text}`;
}

// The value that sets the unit of one among others that stand beside it: the largest, unless they are far apart.
function inOneUnit(value, others) {
  const most = Math.max(...others.map((other) => other ?? 0));
  return value !== null && most < 50 * value ? most : value;
}

function signed(value, digits) {
  return (value > 0 ? "+" : "") + fixed(Math.abs(value) < 0.5 * 10 ** -digits ? 0 : value, digits);
}

// A difference with its interval: +1.2 [−0.4, 2.8] points.
function differenceText(measure, mean, halfWidth) {
  if (mean === null) return "–";
  const unit = unitOf(measure, Math.max(Math.abs(mean), halfWidth ?? 0));
  const text = measure.is_share ? " points" : unit.text;
  const shown = mean / unit.scale;
  const digits = Math.min(measure.is_share ? 2 : 6, decimals(Math.max(Math.abs(shown), (halfWidth ?? 0) / unit.scale)));
  if (halfWidth === null) return signed(shown, digits) + text;
  const [low, high] = [mean - halfWidth, mean + halfWidth].map((end) => signed(end / unit.scale, digits));
  return `${signed(shown, digits)} [${low}, ${high}]${text}`;
}

// A difference in per cent of what it is compared with.
function relativeText([mean, halfWidth], other) {
  if (mean === null || !other[0]) return el("span", { tabindex: 0 }, mean ? "differs" : "0 %");
  const scale = 100 / Math.abs(other[0]);
  const digits = Math.max(Math.abs(mean), halfWidth ?? 0) * scale < 10 ? 1 : 0;
  const around = halfWidth === null ? "" : ` [${signed((mean - halfWidth) * scale, digits)}, ${signed((mean + halfWidth) * scale, digits)}]`;
  return el("span", { tabindex: 0 }, el("b", {}, `${signed(mean * scale, digits)} %`), around);
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

function meaningOf(measure) {
  const direction = { more: "More is better.", less: "Less is better.", "": "" }[measure.better];
  const unit = measure.is_share ? "Unit: per cent." : measure.unit === "s" ? "Unit: s, min, h or d." : measure.unit ? `Unit: ${measure.unit}.` : "A number without unit.";
  return [measure.title, `${capital(measure.meaning)}.`, `${unit} ${direction}`];
}
