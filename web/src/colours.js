// Colours that people with any colour vision can tell apart: Paul Tol's muted scheme and three darker or lighter ones.

const CLASSES = [
  [[68, 119, 170], [238, 119, 51], [17, 119, 51], [204, 102, 119], [136, 204, 238], [136, 34, 85], [153, 153, 51], [51, 34, 136], [221, 204, 119], [68, 170, 153], [170, 68, 153], [110, 70, 30]],
  [[102, 153, 204], [238, 136, 68], [68, 170, 102], [224, 130, 146], [153, 214, 244], [190, 84, 140], [176, 176, 70], [140, 125, 225], [232, 218, 140], [94, 196, 178], [205, 116, 190], [170, 125, 80]],
];
export const LOOKS = CLASSES[0].length;
const OTHER = [[150, 156, 163], [120, 127, 135]];
const RAMP = [[0, 34, 78], [52, 68, 108], [101, 107, 112], [148, 142, 119], [200, 181, 99], [254, 232, 56]]; // after cividis

export const isDark = () => document.documentElement.dataset.theme === "dark";
export const css = colour => `rgb(${colour.join(",")})`;
export const other = () => OTHER[isDark() ? 1 : 0];
export const classColour = code => code < LOOKS ? CLASSES[isDark() ? 1 : 0][code] : other();

export function ramp(share) {
  const full = share > 0 ? Math.min(share, 1) : 0;
  const x = (isDark() ? 0.28 + 0.72 * full : 0.86 * full) * (RAMP.length - 1), i = Math.min(Math.floor(x), RAMP.length - 2);
  return RAMP[i].map((part, j) => Math.round(part + (x - i) * (RAMP[i + 1][j] - part)));
}

export function scaled(column, value) {
  const [low, high] = column.range, scale = column.log ? Math.log1p : x => x;
  return (scale(value - Math.min(low, 0)) - scale(low - Math.min(low, 0))) / (scale(high - Math.min(low, 0)) - scale(low - Math.min(low, 0)) || 1);
}

// The colour of each node by a column, four bytes a node.
export function coloursOf(column, n) {
  const word = ([red, green, blue]) => (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
  const colours = new Uint32Array(n), { values } = column, unknown = word(other());
  if (column.kind === "category") {
    const table = Uint32Array.from([...column.names.keys(), column.names.length], code => code < column.names.length ? word(classColour(code)) : unknown);
    for (let node = 0; node < n; node++) colours[node] = table[values[node]];
  } else {
    const table = Uint32Array.from({ length: 256 }, (_, i) => word(ramp(i / 255)));
    for (let node = 0; node < n; node++) colours[node] = Number.isNaN(values[node]) ? unknown : table[Math.max(0, Math.min(255, Math.round(255 * scaled(column, values[node]))))];
  }
  return new Uint8Array(colours.buffer);
}

export const colourOf = (column, node) => {
  const value = column.values[node];
  if (column.kind === "category") return value < column.names.length ? classColour(value) : other();
  return Number.isNaN(value) ? other() : ramp(scaled(column, value));
};
