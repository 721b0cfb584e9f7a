// The data of the page: one gzip stream that holds a JSON header and typed arrays. See nafs/report/packing.py.

import { short } from "./dom.js";

const KINDS = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, u2: Uint16Array, i4: Int32Array };

export async function readData(holder) {
  const buffer = await inflate(holder.dataset.from ? await download(holder.dataset.from) : decode(holder.textContent));
  const size = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  return revive(header, buffer, 8 * Math.ceil((4 + size) / 8));
}

function decode(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const characters = atob(text), bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

async function download(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function revive(value, buffer, start) {
  if (Array.isArray(value)) return value.map(one => revive(one, buffer, start));
  if (value === null || typeof value !== "object") return value;
  if (value.array) {
    const [kind, offset, length] = value.array;
    return joined(new Uint8Array(buffer, start + offset, length * KINDS[kind].BYTES_PER_ELEMENT), KINDS[kind]);
  }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, revive(one, buffer, start)]));
}

// Values from their bytes, which lie sorted by their place in a value.
function joined(planes, Kind) {
  const size = Kind.BYTES_PER_ELEMENT, length = planes.length / size, bytes = new Uint8Array(planes.length);
  for (let place = 0; place < size; place++)
    for (let i = 0, from = place * length, to = place; i < length; i++, from++, to += size) bytes[to] = planes[from];
  return new Kind(bytes.buffer);
}

export const isMissing = (column, node) =>
  column.kind === "category" ? column.values[node] >= column.names.length
    : column.kind === "text" ? (column.values?.[node] ?? null) === null : Number.isNaN(column.values[node]);

// Texts of a served page stay with the server, which sends those of the selected node.
export const isServed = column => column.kind === "text" && !column.values;

export function show(column, node) {
  if (isMissing(column, node)) return "unknown";
  const value = column.values[node];
  if (column.kind === "category") return column.names[value];
  return column.kind === "text" ? value : showValue(column, value);
}

export function showValue(column, value) {
  if (column.kind !== "date") return short(value, column.whole);
  const date = new Date(value * 1000);
  return Number.isNaN(date.getTime()) ? "out of range" : date.toISOString().replace("T00:00:00.000Z", "").replace(".000Z", "").replace("T", " ");
}
