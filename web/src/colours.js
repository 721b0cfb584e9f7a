// Colours that people with any colour vision can tell apart: tests/report/test_colours.py simulates three of them.

const CLASSES = [
  [[68, 119, 204], [239, 114, 52], [16, 99, 43], [176, 96, 123], [137, 199, 238], [228, 41, 77], [151, 217, 45], [77, 61, 124], [190, 127, 184], [69, 170, 125], [166, 57, 161], [108, 62, 63]],
  [[158, 152, 232], [227, 132, 74], [230, 241, 115], [94, 174, 146], [150, 214, 245], [159, 80, 146], [227, 177, 48], [140, 98, 224], [192, 222, 141], [130, 171, 177], [205, 90, 195], [171, 250, 68]],
];
export const LOOKS = CLASSES[0].length;
const OTHER = [[150, 156, 163], [120, 127, 135]];
const RAMP = [[0, 34, 78], [52, 68, 108], [101, 107, 112], [148, 142, 119], [200, 181, 99], [254, 232, 56]]; // after cividis

export const isDark = () => document.documentElement.dataset.theme === "dark";
export const css = colour => `rgb(${colour.join(",")})`;
export const other = () => OTHER[isDark() ? 1 : 0];
export const classColour = code => code < LOOKS ? CLASSES[isDark() ? 1 : 0][code] : other();
// Clusters lie apart and have their names on the map, so further ones use the colours again.
export const colourOfValue = (column, code) => classColour(column.again ? code % LOOKS : code);

export function ramp(share) {
  const full = share > 0 ? Math.min(share, 1) : 0;
  const x = (isDark() ? 0.28 + 0.72 * full : 0.86 * full) * (RAMP.length - 1), i = Math.min(Math.floor(x), RAMP.length - 2);
  return RAMP[i].map((part, j) => Math.round(part + (x - i) * (RAMP[i + 1][j] - part)));
}

export function scaled(column, value) {
  const [low, high] = column.range, scale = column.log ? Math.log1p : x => x / 4; // a quarter, so that no difference overflows
  return (scale(value) - scale(low)) / (scale(high) - scale(low) || 1);
}

// The colour of each node by a column, four bytes a node.
export function coloursOf(column, n) {
  const word = ([red, green, blue]) => (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
  const colours = new Uint32Array(n), { values } = column, unknown = word(other());
  if (column.kind === "category") {
    const table = Uint32Array.from([...column.names.keys(), column.names.length], code => code < column.names.length ? word(colourOfValue(column, code)) : unknown);
    for (let node = 0; node < n; node++) colours[node] = table[values[node]];
  } else {
    const table = Uint32Array.from({ length: 256 }, (_, i) => word(ramp(i / 255)));
    for (let node = 0; node < n; node++) colours[node] = Number.isNaN(values[node]) ? unknown : table[Math.max(0, Math.min(255, Math.round(255 * scaled(column, values[node]))))];
  }
  return new Uint8Array(colours.buffer);
}

export const colourOf = (column, node) => {
  const value = column.values[node];
  if (column.kind === "category") return value < column.names.length ? colourOfValue(column, value) : other();
  return Number.isNaN(value) ? other() : ramp(scaled(column, value));
};
