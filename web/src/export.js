// The nodes in the foreground as a CSV file.

import { isMissing, isServed, show } from "./data.js";

const quoted = text => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

// 32 bits hold seven digits; what follows them is noise.
const exact = (values, node) => String(values instanceof Float32Array ? Number(values[node].toPrecision(7)) : values[node]);

export function asCsv(data, active) {
  const columns = data.columns.filter(column => !isServed(column));
  const lines = [["id", ...columns.map(column => column.title)].map(quoted).join(",")];
  for (let node = 0; node < data.n; node++) {
    if (!active[node]) continue;
    const values = columns.map(column => isMissing(column, node) ? "" : column.kind === "number" ? exact(column.values, node) : show(column, node));
    lines.push([data.ids[node], ...values].map(quoted).join(","));
  }
  return lines.join("\r\n") + "\r\n";
}

export function download(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" })), link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
