// Round numbers along an axis, two or more of them: one alone gives no scale.

function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) found.push(Number((i * step).toPrecision(12)));
  return found.length > 1 ? found : ticks(low, high, 2 * count);
}

// Significant digits with which ticks read apart.
function digitsApart(values) {
  const most = Math.max(...values.map(Math.abs));
  return 1 + Math.floor(Math.log10(most)) - Math.floor(Math.log10(values[1] - values[0]) + 1e-9);
}

// Of a text in a chart, as the page draws it, in pixels.
const PEN = document.createElement("canvas").getContext("2d");
function textWidth(text) {
  PEN.font = "12px system-ui";
  return PEN.measureText(text).width;
}
