// The map over hops: NAFS beside plain smoothing, for a sample of the nodes and for those around the selected one.

import { at, count, cut, level } from "./dom.js";

// Returns a function that is told which nodes to add to the sample: the selected one and those marked around it.
export function buildReplay(data, state, map, onChange) {
  const { replay } = data, slider = at("hop");
  at("over").hidden = !replay;
  if (!replay) return () => {};
  let on = false, timer = null, added = [];
  slider.max = replay.steps.length - 1;
  slider.value = replay.start;
  const step = () => Number(slider.value);
  const titles = () => replay.maps.map(one => one.title.replace("{K}", replay.steps[step()]));
  const sampled = new Set(replay.nodes);
  const say = () => {
    at("hopvalue").textContent = `K = ${replay.steps[step()]}`;
    const absent = state.selected >= 0 && !sampled.has(state.selected) && !replay.others;
    at("hopnote").hidden = !absent;
    if (absent) at("hopnote").textContent = level(`${cut(data.ids[state.selected], 24)} is not among the ${count(replay.nodes.length)} nodes of these maps; nafs explore --port 8000 follows every node.`);
    slider.setAttribute("aria-valuetext", `${replay.steps[step()]} hops`);
  };
  // Places on a map: those of the sample, then those of the added nodes in 7 bits, as differences from step to step.
  const positions = (one, i) => {
    const { length } = replay.nodes, places = new Uint16Array(2 * (length + added.length));
    places.set(one.positions[step()]);
    added.forEach((node, j) => [0, 1].forEach(axis => {
      let place = 0;
      for (let k = 0; k <= step(); k++) place += replay.others[(2 * (i * replay.steps.length + k) + axis) * data.n + node];
      places[2 * (length + j) + axis] = 516 * (place & 127);
    }));
    return places;
  };
  const show = () => map.show(replay.maps.map((one, i) => ({ title: titles()[i], positions: positions(one, i) })), [...replay.nodes, ...added], data.n);
  const go = () => { say(); if (on) map.move(replay.maps.map(positions), titles()); };
  const stop = () => { clearInterval(timer); timer = null; at("play").textContent = "Play"; };
  const turn = wanted => {
    on = wanted;
    at("over").setAttribute("aria-pressed", String(on));
    at("steps").hidden = !on;
    at("legend").classList.toggle("folded", on); // two maps need the room
    stop();
    if (on) show();
    else map.show([{ title: "", positions: data.positions }], null, data.n);
    say();
    onChange();
    map.fit();
  };
  at("over").title = `How the map of ${count(replay.nodes.length)} nodes${replay.others ? ", and of the selected one," : ""} changes with the number of hops`;
  at("over").addEventListener("click", () => turn(!on));
  slider.addEventListener("input", go);
  at("play").addEventListener("click", () => {
    if (timer) { stop(); return; }
    at("play").textContent = "Stop";
    timer = setInterval(() => { slider.value = (step() + 1) % replay.steps.length; go(); }, 1100);
  });
  say();
  return nodes => {
    added = replay.others ? [...new Set(nodes)].filter(node => !sampled.has(node)) : [];
    say();
    if (on) show();
  };
}
