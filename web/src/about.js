// How the embedding was made, how good the clusters are, and what the words mean.

import { at, element } from "./dom.js";
import { curves } from "./charts.js";

const WORDS = [
  ["Embedding", "A list of numbers for each node; similar lists mean similar nodes."],
  ["Map", "The embedding drawn on a plane by t-SNE: near points are similar; distances between far groups mean little."],
  ["Hop", "A step along an edge. A node's 2-hop surroundings are the neighbours of its neighbours."],
  ["Smoothing", "Averaging a node's features with those of its surroundings, one hop further each time."],
  ["Mean smoothing hop", "How far a node looks on average; higher where the graph around it is sparse."],
  ["Cluster", "Nodes with similar vectors, found without labels."],
  ["Cohesion", "Mean cosine of a cluster's nodes with its centre; 1 is as tight as can be."],
  ["Agreement", "Overlap of a cluster with its best match when clusters are found again from another start; 100 % is the same nodes."],
  ["Modularity", "Share of edges inside clusters, beyond what chance would give; higher is better."],
  ["Conductance", "Share of edges that leave a cluster, mean over clusters; lower is better."],
  ["ACC, NMI, ARI, F1", "How well clusters match the labels; 1 is a perfect match. Labels only judge, clusters never see them."],
];

export function buildAbout(data) {
  const table = rows => element("table", { class: "facts" }, element("tbody", {}, ...rows.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)))));
  const cards = data.cards.map(card => element("section", {}, element("h3", {}, card.title), card.text ? element("p", { class: "explain" }, card.text) : null, card.chart ? curves(card.chart) : table(card.rows)));
  const words = element("section", {}, element("h3", {}, "Words used on this page"), element("dl", { class: "words" }, ...WORDS.flatMap(([word, meaning]) => [element("dt", {}, word), element("dd", {}, meaning)])));
  at("about").replaceChildren(...cards, words);
}
