// Plots of the main measures, all at once, and the order in which the page is drawn.

function drawPlots() {
  const grid = el("div", { class: "plots grid" });
  for (const name of data.plots) {
    const place = el("div");
    grid.append(place);
    drawn(place, (width) => intervalPlot(width, 0, name));
  }
  const bound = Object.keys(data.limits).length ? "Stroke: the bound; no plan has more value. " : "";
  part("plots").append(el("h2", { id: "plots-title" }, "Value, throughput, energy and cost"), grid,
    el("p", { class: "key" }, `${bound}${data.seeds > 1 ? "Line: 95 % interval over seeds." : "One seed: no interval."}`));
}

drawHeader();
drawLeads();
drawChooser();
drawPlots();
drawTable();
drawFront();
drawIntervals();
drawCaveats();
drawRun();
