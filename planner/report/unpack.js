// Columns back into rows; accelerators by number, server after server, and by name.

// Numbers as they are, or as differences and how often each follows.
function unpackNumbers(numbers) {
  if (Array.isArray(numbers)) return numbers;
  const { steps } = numbers, found = [];
  for (let i = 0, number = 0; i < steps.length; i += 2) {
    for (let k = 0; k < steps[i + 1]; k++) found.push((number += steps[i]));
  }
  return found;
}

// Of circuits that are on at the same time, the number of the way of each.
const waysOf = ({ circuits }) => unpackNumbers(circuits[2]);

function unpackColumn(column, count) {
  if (Array.isArray(column) || column.steps) return unpackNumbers(column);
  if (column.of) return unpackNumbers(column.at).map((at) => column.of[at]);
  const rows = expandRuns(column.rows);
  const values = new Array(count).fill(null);
  unpackRows({ count: rows.length, columns: column.fields }).forEach((value, i) => (values[rows[i]] = value));
  return values;
}

function unpackRows({ count, columns }) {
  const rows = Array.from({ length: count }, () => ({}));
  for (const [name, column] of Object.entries(columns)) unpackColumn(column, count).forEach((value, i) => (rows[i][name] = value));
  return rows;
}

// Pairs of a first number and how many follow; -1 stands for what has none.
function expandRuns(runs) {
  const numbers = [];
  for (let i = 0; i < runs.length; i += 2) {
    for (let k = 0; k < runs[i + 1]; k++) numbers.push(runs[i] < 0 ? -1 : runs[i] + k);
  }
  return numbers;
}

const slots = data.fabric.devices_per_server;
const devicesInAll = data.fabric.racks * data.fabric.servers * slots;
const serverOf = (device) => Math.floor(device / slots);
const rackOf = (server) => Math.floor(server / data.fabric.servers);

function serverName(server) {
  const { racks, servers } = data.fabric;
  return racks === 1 ? `s${server}` : `r${rackOf(server)}.s${server % servers}`;
}

const deviceName = (device) => `${serverName(serverOf(device))}.${data.floor.letter}${device % slots}`;
const endName = (end) => (typeof end === "number" ? deviceName(end) : end);

// 0-3, 6
function rangesOf(numbers) {
  const runs = [];
  for (const each of [...new Set(numbers)].sort((a, b) => a - b)) {
    if (runs.length && runs[runs.length - 1][1] + 1 === each) runs[runs.length - 1][1] = each;
    else runs.push([each, each]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(", ");
}

function whereOf(devices) {
  const held = new Map();
  for (const device of devices) {
    if (device < 0) continue;
    const server = serverOf(device);
    if (!held.has(server)) held.set(server, []);
    held.get(server).push(device % slots);
  }
  return [...held].sort(([a], [b]) => a - b).map(([server, taken]) => [serverName(server), rangesOf(taken)]);
}

const ways = unpackRows(data.ways);

// Circuits of one configuration, made when they are looked at.
function circuitsOf({ circuits }) {
  const [sources, destinations, numbers] = circuits.map(unpackNumbers);
  return numbers.map((number, i) => {
    const { kind, width, sign, lines, cells } = ways[number];
    const [source, destination] = [endName(sources[i]), endName(destinations[i])];
    return { from: sources[i], to: destinations[i], source, destination, kind, width,
      lines: [`${source} ${sign} ${destination}`, ...lines], cells: [source, destination, ...cells] };
  });
}

function zipped(parts) {
  return parts && parts.names.map((name, i) => [name, parts.values[i]]);
}

data.jobs = unpackRows(data.jobs);
data.left_out = unpackRows(data.left_out);
const holders = Array.from({ length: devicesInAll }, () => null);
data.jobs.forEach(({ plan }, job) => {
  if (!plan) return;
  plan.devices = expandRuns(plan.devices);
  plan.devices.forEach((device, rank) => device >= 0 && (holders[device] ??= []).push([job, rank]));
  plan.time_s = zipped(plan.time_s);
  plan.energy_j = zipped(plan.energy_j);
  plan.memory = [];
});
for (const { job, device, rail, tray, port, units, phase } of unpackRows(data.memory)) {
  const behind = expandRuns(units).map((unit) => `${tray}.u${unit}`).join(", ");
  data.jobs[job].plan.memory.push([endName(device), rail, `${tray}.${port}`, behind, phase]);
}
const failedDevices = new Set(data.floor.failed), darkDevices = new Set(data.floor.dark);
