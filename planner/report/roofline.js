// Where the selected job stands below the roof of its device: both axes are logarithmic.

const ROOF = { width: Math.min(420, innerWidth - 84), height: 134, left: 8, right: 8, top: 22, bottom: 22 };

function drawRoofline({ intensity, flops_per_s: speed, peak_flops_per_s: peak, peak_bytes_per_s: bandwidth }) {
  const ridge = peak / bandwidth;
  const reach = Math.min(peak, bandwidth * intensity);
  const [left, right] = [Math.min(ridge / 300, intensity / 3), Math.max(ridge * 30, intensity * 3)];
  const low = Math.min(left * bandwidth, speed / 2);
  const x = (value) => ROOF.left + (Math.log(value / left) / Math.log(right / left)) * (ROOF.width - ROOF.left - ROOF.right);
  const y = (value) => ROOF.height - ROOF.bottom - (Math.log(value / low) / Math.log(peak / low)) * (ROOF.height - ROOF.top - ROOF.bottom);
  const middle = Math.sqrt(left * ridge), memory = `${quantity(bandwidth, "B/s")}: memory`;
  const beside = x(middle) - 8, shift = Math.max(0, textWidth(memory) - beside);
  const dot = svg("circle", { cx: x(intensity), cy: y(speed), r: 6, fill: colour(state.job), tabindex: 0, role: "img" });
  describe(dot, ["Roofline", `${quantity(speed, "FLOP/s")} of each accelerator over the whole step`,
    `${quantity(reach, "FLOP/s")} in reach at ${number(intensity)} FLOP per byte`]);
  const picture = svg("svg", { class: "roof", viewBox: `0 0 ${ROOF.width} ${ROOF.height}`, role: "group", "aria-label": "Roofline of one accelerator" },
    svg("path", { d: `M${x(left)} ${y(left * bandwidth)} L${x(ridge)} ${y(peak)} H${x(right)}` }),
    svg("line", { x1: x(intensity), x2: x(intensity), y1: y(speed), y2: y(reach) }),
    svg("text", { x: x(right), y: y(peak) - 11, "text-anchor": "end" }, `${quantity(peak, "FLOP/s")}: compute`),
    svg("text", { x: beside + shift, y: y(middle * bandwidth) - 6 - shift, "text-anchor": "end" }, memory),
    svg("text", { x: ROOF.width - ROOF.right, y: ROOF.height - 6, "text-anchor": "end" }, "FLOP per byte of memory traffic →"), dot);
  const heading = el("h3", {}, el("span", {}, "Roofline of an accelerator"), el("span", { class: "num" }, `${percent(speed / reach)} of reach`));
  return el("div", { class: "split" }, heading, picture);
}
