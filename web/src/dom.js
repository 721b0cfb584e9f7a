// Elements from text. Nothing that comes from the data is ever parsed as markup.

export const at = id => document.getElementById(id);

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined).map(child => child instanceof globalThis.Node ? child : String(child)));
  return node;
}

export function drawing(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export const count = number => number.toLocaleString("en");

export function short(number) {
  if (!Number.isFinite(number)) return "–";
  if (Number.isInteger(number)) return count(number);
  return Math.abs(number) >= 1000 ? count(Math.round(number)) : String(Number(number.toPrecision(3)));
}
