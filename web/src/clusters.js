// The list of clusters: size, what distinguishes each, how tight and how sure it is; a click shows one alone.

import { at, count, element, level } from "./dom.js";
import { LOOKS, classColour, colourOfValue, css, other, ramp, scaled } from "./colours.js";

const WHAT_IS_COHESION = "Mean cosine between its nodes and its centre: 1 if all vectors point the same way.";
const WHAT_IS_AGREEMENT = "How well the trial clusterings find this cluster: its mean overlap with the most similar cluster of each.";

export function buildClusters(data, state, select) {
  const { clusters } = data, column = data.columns[clusters.column], list = at("clusterlist");
  at("clusternote").textContent = clusters.note;
  at("sure").replaceChildren(element("strong", {}, clusters.doubtful ? "These clusters are doubtful: " : "How sure: "),
    `${count(clusters.agreeing)} of ${count(clusters.candidates)} trial clusterings agree with this one (mean agreement ${clusters.agreement.toFixed(2)}; 1 means identical).`);
  at("sure").classList.toggle("doubtful", clusters.doubtful);
  let mixed = null, mixes = null; // the column that the nodes are coloured by, and its shares in each cluster
  const draw = () => {
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.code : null;
    const byCluster = state.colour === column;
    if (mixed !== state.colour) { mixed = state.colour; mixes = byCluster ? null : sharesOf(state.colour, column, clusters.list); }
    list.classList.toggle("plain", !byCluster);
    list.replaceChildren(...clusters.list.map((cluster, code) => {
      const dot = element("i", { class: "dot" });
      if (byCluster) dot.style.background = css(colourOfValue(column, code));
      const alone = state.isolated(column) === code;
      const figure = (name, value, explain) => element("div", { title: explain }, element("dt", {}, name), element("dd", {}, value));
      const item = element("li", { class: alone ? "cluster alone" : "cluster" },
        element("button", { type: "button", "aria-pressed": String(alone), "data-code": code, title: alone ? "Show all clusters" : "Show this cluster alone", onclick: () => state.isolate(column, code) },
          dot, element("span", { class: "name" }, cluster.name), element("span", { class: "number" }, count(cluster.size))),
        mixes ? mixBar(state.colour, mixes[code]) : null,
        element("p", { class: "explain" }, level(cluster.words)),
        element("dl", { class: "figures" }, figure("cohesion", cluster.cohesion.toFixed(2), WHAT_IS_COHESION), figure("agreement", Math.round(100 * cluster.agreement) + " %", WHAT_IS_AGREEMENT)));
      if (alone) item.append(element("p", { class: "explain below" }, "Typical nodes (closest to its centre)"), element("div", { class: "chips" }, ...cluster.typical.map(row => element("button", { type: "button", onclick: () => select(row) }, data.ids[row]))));
      return item;
    }));
    if (focused !== null) list.querySelector(`[data-code="${Number(focused)}"]`)?.focus();
  };
  state.listeners.push(draw);
}

// How the colours of a column are spread over the clusters: for each cluster, shares of LOOKS colours and of grey.
const STEPS = 12;
function sharesOf(coloured, column, list) {
  const parts = coloured.kind === "category" ? LOOKS : STEPS, counts = list.map(() => new Float64Array(parts + 1));
  for (let node = 0; node < column.values.length; node++) {
    const mine = counts[column.values[node]], value = coloured.values[node];
    if (!mine) continue;
    if (coloured.kind === "category") mine[value < coloured.names.length ? Math.min(value, parts) : parts]++;
    else mine[Number.isNaN(value) ? parts : Math.max(0, Math.min(parts - 1, Math.floor(scaled(coloured, value) * parts)))]++;
  }
  return counts.map((mine, code) => mine.map(number => number / (list[code].size || 1)));
}

function mixBar(coloured, shares) {
  const bar = element("div", { class: "mix", "aria-hidden": "true" });
  shares.forEach((share, i) => {
    if (share < 0.002) return;
    const part = element("i");
    part.style.width = 100 * share + "%";
    part.style.background = css(i === shares.length - 1 ? other() : coloured.kind === "category" ? classColour(i) : ramp((i + 0.5) / STEPS));
    bar.append(part);
  });
  return bar;
}

// Labels for the map: each cluster's name at the middle of its nodes.
export function clusterLabels(data, positions) {
  const { clusters } = data, { values } = data.columns[clusters.column];
  const members = clusters.list.map(() => []);
  const step = Math.max(1, Math.floor(data.n / 200000));
  for (let node = 0; node < data.n; node += step) members[values[node]]?.push(node);
  const middle = (nodes, axis) => { const sorted = nodes.map(node => positions[2 * node + axis]).sort((a, b) => a - b); return sorted[sorted.length >> 1]; };
  return clusters.list.map((cluster, code) => ({ text: cluster.name, size: cluster.size, code, nodes: members[code] }))
    .filter(label => label.nodes.length)
    .map(label => ({ ...label, place: [0, 1].map(axis => middle(label.nodes, axis) * 1000 / 65535) }))
    .sort((a, b) => b.size - a.size);
}
