// Elements from text. Nothing that comes from the data is ever parsed as markup.

export const at = id => document.getElementById(id);

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined).map(child => child instanceof Node ? child : String(child)));
  return made;
}

export function drawing(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export const count = number => number.toLocaleString("en");

export function short(number) {
  if (!Number.isFinite(number)) return "–";
  if (Number.isInteger(number)) return count(number);
  return Math.abs(number) >= 1000 ? count(Math.round(number)) : String(Number(number.toPrecision(3)));
}
