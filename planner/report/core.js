// Elements, numbers, colours and the tooltip. Text is only ever set as text.

const data = JSON.parse(document.getElementById("data").textContent);

function make(space, tag, attributes, children) {
  const node = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

const el = (tag, attributes = {}, ...children) => make(null, tag, attributes, children);
const svg = (tag, attributes = {}, ...children) => make("http://www.w3.org/2000/svg", tag, attributes, children);
const part = (id) => document.getElementById(id);

function on(node, events, handler) {
  for (const event of events.split(" ")) node.addEventListener(event, handler);
  return node;
}

// Okabe-Ito colours in an order that keeps neighbours apart; later rounds are lighter, darker, darkest.
const HUES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7a5fb0"];

function blend(hex, other, share) {
  const channel = (text, i) => parseInt(text.slice(1 + 2 * i, 3 + 2 * i), 16);
  const mixed = [0, 1, 2].map((i) => Math.round(channel(hex, i) * (1 - share) + channel(other, i) * share));
  return "#" + mixed.map((value) => value.toString(16).padStart(2, "0")).join("");
}

const coloursOfJobs = [];

function colour(index) {
  return (coloursOfJobs[index] ??= colourOf(index));
}

function colourOf(index) {
  const hue = HUES[index % HUES.length];
  const round = Math.floor(index / HUES.length) % 4;
  return [hue, blend(hue, "#ffffff", 0.5), blend(hue, "#000000", 0.4), blend(hue, "#000000", 0.65)][round];
}

function inkOn(hex) {
  const linear = [1, 3, 5].map((i) => (parseInt(hex.slice(i, i + 2), 16) / 255) ** 2.2);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.2 ? "#10141a" : "#ffffff";
}

// 1,234 · 0.0123 · 12.3: so many significant digits, and what is absent is a dash.
function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return value.toLocaleString("en");
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(digits - 1).replace("e", " e");
  const decimals = size === 0 ? 0 : Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return value.toLocaleString("en", { maximumFractionDigits: decimals });
}

function quantity(value, unit) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return `0 ${unit}`;
  const steps = [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3], ["", 1], ["m", 1e-3], ["µ", 1e-6], ["n", 1e-9], ["p", 1e-12]];
  const [prefix, scale] = steps.find(([, size]) => Math.abs(value) >= size * 0.9995) || steps[steps.length - 1];
  return `${number(value / scale)} ${prefix}${unit}`;
}

const percent = (share) => (share === null ? "–" : `${share >= 0.01 ? (share * 100).toFixed(1) : number(share * 100, 2)} %`);
const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

// A node that tells `lines` when pointed at or focused; the first line is the heading.
function describe(node, lines) {
  node.setAttribute("aria-label", lines.filter(Boolean).join(", "));
  on(node, "mouseenter focus", () => showTip(node, lines.filter(Boolean)));
  on(node, "mouseleave blur", hideTip);
  return node;
}

function showTip(node, lines) {
  const tip = part("tip");
  tip.replaceChildren(el("b", {}, lines[0]), ...lines.slice(1).map((line) => el("div", {}, line)));
  tip.hidden = false;
  const box = node.getBoundingClientRect();
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  const left = Math.max(8, Math.min(room, box.left + box.width / 2 - tip.offsetWidth / 2));
  const above = box.top - tip.offsetHeight - 8;
  tip.style.left = `${left + window.scrollX}px`;
  tip.style.top = `${(above > 4 ? above : box.bottom + 8) + window.scrollY}px`;
}

function hideTip() {
  part("tip").hidden = true;
}

// One tab stop for many nodes; `next(node, key)` names the one that an arrow key leads to.
function roving(nodes, next, act = () => {}) {
  nodes.forEach((node, i) => node.setAttribute("tabindex", i === 0 ? 0 : -1));
  nodes.forEach((node) => on(node, "keydown", (event) => {
    if (event.key === "Escape") hideTip();
    if (event.key === "Enter" || event.key === " ") {
      act(node);
      event.preventDefault();
    }
    const target = event.key.startsWith("Arrow") ? next(node, event.key) : null;
    if (!target) return;
    nodes.forEach((other) => other.setAttribute("tabindex", other === target ? 0 : -1));
    target.focus();
    event.preventDefault();
  }));
}

function inOrder(nodes) {
  return (node, key) => {
    const step = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
    return nodes[(nodes.indexOf(node) + step + nodes.length) % nodes.length];
  };
}
