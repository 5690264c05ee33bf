// Round numbers along an axis, two or more of them: one alone gives no scale.

function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) found.push(Number((i * step).toPrecision(12)));
  return found.length > 1 ? found : ticks(low, high, 2 * count);
}

// Round numbers along a logarithmic axis that spans a factor of 4 or more: decades, or what lies within them where
// decades are too few.
function logTicks(low, high) {
  const decades = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++) decades.push(power);
  const within = (factors) => decades.flatMap((power) => factors.map((factor) => Number(`${factor}e${power}`))).filter((value) => value >= low && value <= high);
  return [[1], [1, 2, 5]].map(within).find((found) => found.length > 2) ?? within([1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

// Significant digits with which values that are not equal read apart.
function digitsApart(values) {
  const most = Math.max(...values.map(Math.abs));
  const inOrder = [...values].sort((a, b) => a - b);
  const steps = inOrder.slice(1).map((value, i) => value - inOrder[i]).filter((step) => step > 0);
  return steps.length ? 1 + Math.floor(Math.log10(most)) - Math.floor(Math.log10(Math.min(...steps)) + 1e-9) : 1;
}

// Of a text in a chart, as the page draws it, in pixels.
const PEN = document.createElement("canvas").getContext("2d");
function textWidth(text, weight = 400) {
  PEN.font = `${weight} 12px system-ui`;
  return PEN.measureText(text).width;
}
