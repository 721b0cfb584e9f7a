// The list of clusters: size, what distinguishes each, how tight and how sure it is; a click shows one alone.

import { at, count, element } from "./dom.js";
import { classColour, css } from "./colours.js";

export function buildClusters(data, state, select) {
  const { clusters } = data, column = data.columns[clusters.column], list = at("clusterlist");
  at("clusternote").textContent = clusters.note;
  const draw = () => {
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.code : null;
    list.replaceChildren(...clusters.list.map((cluster, code) => {
      const dot = element("i", { class: "dot" });
      dot.style.background = css(classColour(code));
      const alone = state.isolated(column) === code;
      const facts = [["nodes", count(cluster.size)], ["cohesion", cluster.cohesion.toFixed(2)], ...(cluster.agreement === null ? [] : [["agreement", Math.round(100 * cluster.agreement) + " %"]])];
      const item = element("li", { class: alone ? "cluster alone" : "cluster" },
        element("button", { type: "button", "aria-pressed": String(alone), "data-code": code, title: alone ? "Show all clusters" : "Show this cluster alone", onclick: () => state.isolate(column, code) },
          dot, element("span", { class: "name" }, cluster.name), element("span", { class: "number" }, count(cluster.size))),
        element("p", { class: "explain" }, cluster.words));
      if (alone) {
        item.append(element("dl", { class: "figures" }, ...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)))));
        item.append(element("p", { class: "explain" }, "Typical nodes"), element("div", { class: "chips" }, ...cluster.typical.map(row => element("button", { type: "button", onclick: () => select(row) }, data.ids[row]))));
      }
      return item;
    }));
    if (focused !== null) list.querySelector(`[data-code="${Number(focused)}"]`)?.focus();
  };
  state.listeners.push(draw);
}

// Labels for the map: each cluster's name at the middle of its nodes.
export function clusterLabels(data, positions) {
  const { clusters } = data, { values } = data.columns[clusters.column];
  const members = clusters.list.map(() => []);
  const step = Math.max(1, Math.floor(data.n / 200000));
  for (let node = 0; node < data.n; node += step) members[values[node]]?.push(node);
  const middle = (nodes, axis) => { const sorted = nodes.map(node => positions[2 * node + axis]).sort((a, b) => a - b); return sorted[sorted.length >> 1]; };
  return clusters.list.map((cluster, code) => ({ text: cluster.name, size: cluster.size, code, colour: () => classColour(code), nodes: members[code] }))
    .filter(label => label.nodes.length)
    .map(label => ({ ...label, place: [0, 1].map(axis => middle(label.nodes, axis) * 1000 / 65535) }))
    .sort((a, b) => b.size - a.size);
}
