// Small charts: bars of hop weights, histograms of columns, curves over hops.

import { drawing, element } from "./dom.js";
import { classColour, css } from "./colours.js";

export function bars(values, title) {
  const width = 320, height = 84, low = 16, top = Math.max(...values) || 1, step = width / values.length;
  const picture = drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title, class: "chart" });
  values.forEach((value, hop) => {
    const tall = Math.max(0.5, value / top * (height - low - 4));
    picture.append(drawing("rect", { x: hop * step + 0.5, y: height - low - tall, width: Math.max(1, step - 1), height: tall, class: "bar" },
      drawing("title", {}, `hop ${hop}: ${(100 * value).toFixed(1)} %`)));
  });
  const last = values.length - 1;
  for (const hop of new Set([0, Math.floor(last / 2), last]))
    picture.append(drawing("text", { x: hop === 0 ? 2 : hop === last ? width - 2 : (hop + 0.5) * step, y: height - 3, "text-anchor": hop === 0 ? "start" : hop === last ? "end" : "middle" }, hop === 0 ? "0 hops" : String(hop)));
  return picture;
}

export function histogram(values, [low, high], title) {
  const bins = new Array(30).fill(0), size = high / bins.length - low / bins.length || 1;
  for (const value of values) if (Number.isFinite(value)) bins[Math.max(0, Math.min(bins.length - 1, Math.floor(value / size - low / size)))]++;
  const top = Math.max(...bins) || 1, picture = drawing("svg", { viewBox: "0 0 300 34", role: "img", "aria-label": title, class: "chart", preserveAspectRatio: "none" });
  bins.forEach((number, i) => picture.append(drawing("rect", { x: i * 10 + 0.5, width: 9, y: 34 - 34 * Math.sqrt(number / top), height: 34 * Math.sqrt(number / top), class: "bar soft" })));
  return picture;
}

export function curves(chart) {
  const width = 330, height = 200, left = 42, low = 34, right = 8;
  const logs = chart.series.flatMap(series => series.values).filter(value => value > 0).map(Math.log10);
  if (!logs.length) return element("p", {}, "All distances are 0.");
  const min = Math.floor(Math.min(...logs) * 2) / 2, max = Math.ceil(Math.max(...logs) * 2) / 2, last = chart.series[0].values.length - 1 || 1;
  const X = k => left + k / last * (width - left - right), Y = v => 8 + (max - Math.log10(Math.max(v, 10 ** min))) / (max - min || 1) * (height - low - 8);
  const picture = drawing("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": chart.title, class: "chart" });
  for (let tick = Math.ceil(min); tick <= max; tick++)
    picture.append(drawing("line", { x1: left, x2: width - right, y1: Y(10 ** tick), y2: Y(10 ** tick), class: "grid" }), drawing("text", { x: left - 5, y: Y(10 ** tick) + 4, "text-anchor": "end" }, Math.abs(tick) < 4 ? String(Number((10 ** tick).toPrecision(1))) : "1e" + tick));
  for (let k = 0; k <= last; k += Math.max(1, Math.round(last / 5))) picture.append(drawing("text", { x: X(k), y: height - 19, "text-anchor": "middle" }, String(k)));
  picture.append(drawing("text", { x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, chart.axis));
  const key = element("div", { class: "key" });
  chart.series.forEach((series, i) => {
    const stroke = css(classColour(i)), dash = ["none", "6 3", "2 3"][i % 3];
    picture.append(drawing("polyline", { points: series.values.map((v, k) => X(k) + "," + Y(v)).join(" "), fill: "none", stroke, "stroke-width": 2, "stroke-dasharray": dash }));
    key.append(element("span", {}, drawing("svg", { width: 26, height: 8 }, drawing("line", { x1: 0, x2: 26, y1: 4, y2: 4, stroke, "stroke-width": 2.5, "stroke-dasharray": dash })), " " + series.title));
  });
  return element("div", {}, picture, key);
}
