// Racks as small maps, an accelerator a spot; large racks in parts of whole servers.

const MOST_TILES = 640, MOST_OF_SECTION = 1024, MOST_MINIS = 96, MINI = 104;

// Parts of the floor that are drawn at once; `nameOf` a server by number.
function sectionsOf({ racks, servers, devices_per_server: slots }, nameOf) {
  const parts = Math.ceil((servers * slots) / Math.max(MOST_OF_SECTION, slots));
  const each = Math.ceil(servers / parts);
  const found = [];
  for (let rack = 0; rack < racks; rack++) {
    for (let first = 0; first < servers; first += each) {
      const count = Math.min(each, servers - first), from = rack * servers + first;
      const name = count === servers ? (racks > 1 ? `Rack r${rack}` : "Floor plan") : `${nameOf(from)} to ${nameOf(from + count - 1)}`;
      found.push({ name, short: count === servers ? `r${rack}` : nameOf(from), rack, first: from, count });
    }
  }
  return found;
}

// Places of the spots of so many servers: servers as blocks, so that the whole is nearly square.
function miniShape(count, { columns, devices_per_server: slots }) {
  const rows = Math.ceil(slots / columns);
  const across = panelColumns({ label: 0, width: columns * TILE, height: rows * TILE }, count);
  const wide = across * (columns + 0.5), high = Math.ceil(count / across) * (rows + 0.5);
  return { columns, rows, across, wide, high, spot: Math.max(1, Math.min(9, MINI / wide)) };
}

function miniCanvas(shape) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const scale = shape.spot * (window.devicePixelRatio || 1);
  Object.assign(canvas, { width: Math.ceil(shape.wide * scale), height: Math.ceil(shape.high * scale) });
  Object.assign(canvas.style, { width: `${shape.wide * shape.spot}px`, height: `${shape.high * shape.spot}px` });
  return { canvas, scale };
}

// Colours that canvases take from the theme.
function spotInks() {
  const style = getComputedStyle(document.documentElement);
  const ink = (name) => style.getPropertyValue(name).trim();
  return { free: ink("--free"), failed: ink("--hatch"), edge: ink("--ink") };
}

// `look(device)` gives the fill of a spot and whether it steps back.
function paintSpots({ canvas, section, shape: { columns, rows, across }, scale }, slots, look) {
  const pen = canvas.getContext("2d");
  pen.clearRect(0, 0, canvas.width, canvas.height);
  const size = scale > 3 ? scale - 0.6 : scale;
  for (let server = 0; server < section.count; server++) {
    const left = (server % across) * (columns + 0.5), top = Math.floor(server / across) * (rows + 0.5);
    for (let slot = 0; slot < slots; slot++) {
      const { fill, isFaint } = look((section.first + server) * slots + slot);
      pen.globalAlpha = isFaint ? 0.35 : 1;
      pen.fillStyle = fill;
      pen.fillRect((left + (slot % columns)) * scale, (top + Math.floor(slot / columns)) * scale, size, size);
    }
  }
}
