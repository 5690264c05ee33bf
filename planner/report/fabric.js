// What only one kind of fabric has, beside the floor plan: named by `data.view.kind`.

// Where an accelerator lies in the terms of its fabric.
function fabricLines(device) {
  return [];
}
