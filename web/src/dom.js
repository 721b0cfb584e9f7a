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

// A number in few letters. Whole numbers have no separators, as they may be years or ids.
export function short(number, whole = false) {
  const size = Math.abs(number);
  if (size >= 1e15) return number.toExponential(3);
  if (whole) return String(number);
  if (Number.isInteger(number)) return count(number);
  return size >= 1000 ? count(Math.round(number)) : size < 1e-4 ? number.toExponential(2) : String(Number(number.toPrecision(3)));
}

// A text that fits into a line of a menu.
export const cut = (text, most = 80) => text.length > most ? text.slice(0, most - 1) + "…" : text;

// A sentence that holds words from the data: without characters that turn the direction of text, and with words that
// run from right to left kept apart, so that the numbers and brackets around them stay in their places.
const TURNING = /[\u202a-\u202e\u2066-\u2069]/gu;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]+(?:[\p{M}\s'’-]+[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]+)*/gu;
export const level = text => text.replace(TURNING, "").replace(RIGHT_TO_LEFT, "\u2068$&\u2069");
