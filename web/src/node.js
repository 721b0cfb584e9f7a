// Everything about one node: its columns, its hops, its neighbours in the embedding and in the graph.

import { at, count, cut, element, level } from "./dom.js";
import { bars } from "./charts.js";
import { colourOf, css, scaled } from "./colours.js";
import { isMissing, isServed, show } from "./data.js";

export class NodePanel {
  constructor(data, state, select) { Object.assign(this, { data, state, select }); }

  // What is known of a node: from the file, or from the server that sent the page.
  async facts(node) {
    const { data } = this;
    if (data.server) {
      const answer = await fetch("node/" + node);
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      return answer.json();
    }
    const part = (list, k) => Array.from(list.subarray(node * k, (node + 1) * k));
    const facts = {};
    if (data.nearest) {
      const { k, rows, drops } = data.nearest;
      let thousandths = 2 * drops[node * k];
      facts.nearest = part(rows, k).map((row, i) => ({ row, score: (thousandths -= drops[node * k + i]) / 1000 - 1 }));
    }
    if (data.linked) {
      const { offsets, steps, degrees } = data.linked;
      let row = 0;
      facts.linked = Array.from(steps.subarray(offsets[node], offsets[node + 1]), step => row += step);
      facts.degree = degrees[node];
    }
    if (data.suggested) {
      const { k, places, further, shared } = data.suggested, isFurther = place => place >= data.nearest.k && place < NO_PLACE;
      let next = 0;
      for (let i = 0; i < node * k; i++) if (isFurther(places[i])) next++;
      facts.suggested = part(places, k).map((place, i) => ({ row: place === NO_PLACE ? -1 : isFurther(place) ? further[next++] : data.nearest.rows[node * data.nearest.k + place], shared: shared[node * k + i] })).filter(one => one.row >= 0);
    }
    if (data.weights) {
      const mine = part(data.weights.values, data.weights.hops + 1), sum = mine.reduce((a, b) => a + b, 0) || 1;
      facts.weights = mine.map(value => value / sum);
    }
    return facts;
  }

  async show(node) {
    const { data } = this, panel = at("node");
    const heading = element("h2", { id: "chosen", tabindex: "-1", title: cut(data.ids[node], 2000) }, data.ids[node]);
    panel.replaceChildren(heading, this.table(node));
    let facts;
    try { facts = await this.facts(node); } catch (error) { panel.append(element("p", { class: "soft" }, "The details could not be loaded: " + error.message)); return {}; }
    if (this.state.selected !== node) return {};
    if (facts.texts) panel.replaceChildren(heading, this.table(node, facts.texts));
    if (facts.weights) {
      panel.append(this.heading("Weights over hops", "How much each distance in the graph counts in this node's vector."),
        element("p", { id: "hops" }, hopSentence(facts.weights)), bars(facts.weights, "Weight of each hop"));
    }
    if (facts.suggested) {
      panel.append(this.heading("Suggested links", "Similar nodes that are not linked yet; orange lines on the map."));
      panel.append(facts.suggested.length ? this.list(facts.suggested.map(one => one.row), (row, i) => this.reason(node, row, facts.suggested[i].shared), true) : element("p", { class: "soft" }, "None: the most similar nodes are linked already."));
    }
    if (facts.nearest) {
      panel.append(this.heading("Nearest in the embedding", "The most similar vectors by cosine (1 is the same direction); ringed on the map."),
        this.list(facts.nearest.map(one => one.row), (row, i) => facts.nearest[i].score.toFixed(3)));
    }
    if (facts.linked) {
      const some = facts.linked.length < facts.degree ? `The first ${facts.linked.length} of ${count(facts.degree)}; grey lines on the map.` : facts.degree ? "Nodes linked to it by an edge; grey lines on the map." : "This node has no edges.";
      panel.append(this.heading("Neighbours in the graph", some), this.list(facts.linked, () => ""));
    }
    if (!facts.nearest) panel.append(element("p", { class: "soft" }, data.detailsNote || ""));
    return facts;
  }

  heading(title, explanation) { return element("div", { class: "head" }, element("h3", {}, title), element("p", { class: "explain" }, explanation)); }

  table(node, texts = {}) {
    const rows = this.data.columns.map((column, i) => element("tr", {}, element("th", { scope: "row", title: column.explain || cut(column.title, 300) }, element("div", {}, column.title)), element("td", {}, element("div", {}, isServed(column) ? texts[i] ?? "" : show(column, node)))));
    const facts = rows => element("table", { class: "facts" }, element("tbody", {}, ...rows));
    if (rows.length <= MOST_ROWS) return facts(rows);
    return element("div", {}, facts(rows.slice(0, MOST_ROWS - 2)), element("details", {}, element("summary", {}, `${rows.length - MOST_ROWS + 2} more columns`), facts(rows.slice(MOST_ROWS - 2))));
  }

  // Why a link would make sense: neighbours in common, and columns in which the two nodes are alike.
  reason(node, other, shared) {
    const reasons = [shared ? `${count(shared)} shared neighbour${shared > 1 ? "s" : ""}` : "no shared neighbour"];
    const alike = this.data.columns.filter(column => column.source === "yours").map(column => likeness(column, node, other)).filter(Boolean);
    return level([...reasons, ...alike.slice(0, 3)].join(", "));
  }

  list(rows, remark, below = false) {
    return element("ul", { class: below ? "nodes below" : "nodes" }, ...rows.map((row, i) => {
      const dot = element("i", { class: "dot" });
      dot.style.background = css(colourOf(this.state.colour, row));
      return element("li", {}, dot, element("button", { type: "button", onclick: () => { this.select(row); at("chosen")?.focus(); } }, this.data.ids[row]), element("span", { class: "remark" }, remark(row, i)));
    }));
  }
}

const NO_PLACE = 255; // as in nafs/report/neighbours.py
const MOST_ROWS = 18; // columns of a node before the rest is folded
const COMMON = 0.05; // of the nodes: words that more of them have in common say nothing
const CLOSE = 0.05; // of the range of a column

function likeness(column, node, other) {
  if (isMissing(column, node) || isMissing(column, other)) return null;
  const [mine, its] = [column.values[node], column.values[other]];
  if (column.kind === "category") return mine === its ? `same ${column.title}` : null;
  if (column.kind === "text") {
    const frequency = frequencies(column), theirs = new Set(wordsOf(its)), limit = Math.max(2, COMMON * Math.min(column.values.length, 20000));
    const [best] = [...new Set(wordsOf(mine))].filter(word => theirs.has(word) && (frequency.get(word) ?? 0) <= limit).sort((a, b) => (frequency.get(a) ?? 0) - (frequency.get(b) ?? 0));
    return best ? `both mention “${best}” in ${column.title}` : null;
  }
  const place = value => scaled(column, value);
  return Math.abs(place(mine) - place(its)) <= CLOSE ? `similar ${column.title}` : null;
}

const wordsOf = text => text.toLowerCase().match(/\p{L}{4,}/gu) ?? [];

// In how many of the texts each word occurs; of many texts, a part is enough.
function frequencies(column) {
  if (column.frequencies) return column.frequencies;
  const counts = new Map(), step = Math.max(1, Math.floor(column.values.length / 20000));
  for (let node = 0; node < column.values.length; node += step)
    for (const word of new Set(wordsOf(column.values[node] ?? ""))) counts.set(word, (counts.get(word) ?? 0) + 1);
  Object.defineProperty(column, "frequencies", { value: counts });
  return counts;
}

export function hopSentence(weights) {
  const peak = weights.indexOf(Math.max(...weights));
  let half = 0, sum = 0;
  while (half < weights.length - 1 && (sum += weights[half]) < 0.5) half++;
  const even = weights[peak] < 1.15 / weights.length;
  const first = even ? "This node listens to all distances about equally" : peak === 0 ? "This node listens to its own features most" : peak === 1 ? "This node listens to its direct neighbours most" : `This node listens to its ${peak}-hop surroundings most`;
  return `${first}; half of the weight lies within ${half} hop${half === 1 ? "" : "s"}.`;
}
