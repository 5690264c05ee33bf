// Which job is selected, and the colours of jobs and of what takes their time.

const state = { job: null, configuration: 0 };
const listeners = [];
const PARTS = {
  "compute": "#0072b2", "memory": "#e69f00", "tensor communication": "#009e73",
  "pipeline communication": "#56b4e9", "data communication": "#cc79a7",
  "context communication": "#117733", "expert communication": "#882255", "reconfiguration": "#d55e00",
  "pipeline bubble": "#9aa3ad", "network": "#009e73", "running": "#56b4e9", "idle": "#9aa3ad",
  "servers": "#cc79a7", "offload": "#f0e442",
  "always there": "#9aa3ad", "kept": "#0072b2", "kept at most": "#0072b2", "second tier": "#009e73", "offloaded": "#009e73",
  "recomputed": "#e69f00", "free": "transparent",
};

const swatch = (index) => numberSwatch(index, data.jobs[index].plan !== null);

function select(index) {
  state.job = index;
  state.configuration = 0;
  hideTip();
  listeners.forEach((listener) => listener());
}
