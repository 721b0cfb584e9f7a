// Colouring and filtering by columns.

import { at, count, cut, element, level } from "./dom.js";
import { LOOKS, classColour, css, other, ramp } from "./colours.js";
import { histogram } from "./charts.js";
import { isServed, showValue } from "./data.js";

const MOST_VALUES = 200;

function greyDot() {
  const dot = element("i", { class: "dot" });
  dot.style.background = css(other());
  return dot;
}

export function buildLegend(data, state) {
  let unfolded = null; // the column whose values without a colour are listed too
  const draw = () => {
    const column = state.colour, box = at("legendbody");
    const listed = column === data.columns[data.clusters.column]; // the list of clusters is the legend
    at("fold").hidden = listed;
    box.hidden = listed || at("fold").ariaExpanded === "false";
    at("colour").title = column.explain || column.title;
    const focused = box.contains(document.activeElement) ? document.activeElement.dataset.code : undefined;
    if (column.kind !== "category") {
      const bar = element("div", { class: "ramp", role: "img", "aria-label": `from ${showValue(column, column.range[0])} to ${showValue(column, column.range[1])}` });
      bar.style.background = `linear-gradient(90deg,${[0, 0.2, 0.4, 0.6, 0.8, 1].map(share => css(ramp(share))).join(",")})`;
      box.replaceChildren(bar, element("div", { class: "ends" }, element("span", {}, showValue(column, column.range[0])), element("span", {}, column.log ? "log scale" : ""), element("span", {}, showValue(column, column.range[1]))));
      return;
    }
    const alone = state.isolated(column), shown = column === unfolded || alone >= LOOKS ? MOST_VALUES : LOOKS;
    box.replaceChildren(element("ul", {}, ...column.names.slice(0, shown).map((name, code) => {
      const dot = element("i", { class: "dot" });
      dot.style.background = css(classColour(code));
      return element("li", {}, element("button", { type: "button", "data-code": code, "aria-pressed": String(alone === code), title: "Show this value alone", onclick: () => state.isolate(column, code) }, dot, element("span", { class: "name" }, name), element("span", { class: "number" }, count(column.counts[code]))));
    })), column.names.length > shown ? element("button", { type: "button", class: "more", "aria-expanded": "false", onclick: () => { unfolded = column; draw(); box.querySelector(`[data-code="${LOOKS}"]`)?.focus(); } }, greyDot(), `${count(column.names.length - LOOKS)} other values, in grey`) : "");
    if (focused !== undefined) box.querySelector(`[data-code="${Number(focused)}"]`)?.focus();
  };
  at("fold").ariaExpanded = String(matchMedia("(min-width: 861px)").matches);
  at("fold").addEventListener("click", () => { at("fold").ariaExpanded = String(at("fold").ariaExpanded !== "true"); draw(); });
  state.listeners.push(draw);
}

export function buildFilters(data, state) {
  const box = at("filters");
  const build = () => box.replaceChildren(...data.columns.map((column, i) => filterOf(data, state, column, i)));
  let built = false; // many columns take a while, so they wait until someone looks
  const open = () => { if (!built) { built = true; build(); state.changed(); } };
  at("tab-filter").addEventListener("click", open);
  at("tab-filter").addEventListener("focus", open);
  at("clear").addEventListener("click", () => { state.clear(); if (built) build(); });
  state.listeners.push(() => { // a cluster or value that is shown alone elsewhere is ticked here too
    for (const select of box.querySelectorAll("select")) select.value = String(state.isolated(data.columns[Number(select.dataset.column)]));
    [...box.children].forEach((part, i) => part.classList.toggle("on", state.filters.has(data.columns[i])));
  });
}

async function askFilter(state, column, i, field, wanted) {
  const answer = await fetch(`filter/${i}?${encodeURIComponent(wanted)}`);
  if (!answer.ok || field.value.toLowerCase() !== wanted) return;
  const inside = new Uint8Array(await answer.arrayBuffer());
  state.setFilter(column, node => inside[node] === 1);
}

function filterOf(data, state, column, i) {
  const id = "filter" + i, part = element("section", { class: "filter" }, element("h3", {}, column.title), column.explain ? element("p", { class: "explain" }, column.explain) : null);
  if (column.kind === "category") {
    const select = element("select", { id, "data-column": i, "aria-label": "Filter by " + column.title, onchange: event => { const code = Number(event.target.value); if (code < 0 || state.isolated(column) !== code) state.isolate(column, code); } },
      element("option", { value: "-1" }, "all values"), ...column.names.slice(0, 1000).map((name, code) => element("option", { value: code }, level(`${cut(name)} (${count(column.counts[code])})`))));
    part.append(select);
  } else if (column.kind === "text") {
    part.append(element("input", { id, type: "search", placeholder: "contains …", "aria-label": column.title + " contains", oninput: event => {
      const wanted = event.target.value.toLowerCase();
      if (wanted && isServed(column)) askFilter(state, column, i, event.target, wanted);
      else state.setFilter(column, wanted ? node => column.values[node]?.toLowerCase().includes(wanted) : null);
    } }));
  } else {
    const [low, high] = column.range, isDate = column.kind === "date";
    const ends = [low, high], inputs = ["from", "to"].map((word, end) => element("input", {
      id: `${id}-${word}`, type: isDate ? "date" : "number", step: "any", "aria-label": `${column.title} ${word}`, placeholder: isDate ? "" : `${word} ${showValue(column, ends[end])}`, onchange: change,
    }));
    function change() {
      const [from, to] = inputs.map((input, end) => input.value === "" ? [-Infinity, Infinity][end] : isDate ? Date.parse(input.value) / 1000 + end * 86399 : Number(input.value));
      const isSet = Number.isFinite(from) || Number.isFinite(to);
      state.setFilter(column, isSet ? node => column.values[node] >= from && column.values[node] <= to : null);
    }
    part.append(histogram(column.values, column.range, "Distribution of " + column.title), element("div", { class: "pair" }, ...inputs));
  }
  return part;
}
