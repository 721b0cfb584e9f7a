// The map over hops: NAFS beside plain smoothing, for a sample of the nodes.

import { at, count, cut } from "./dom.js";

export function buildReplay(data, state, map, onChange) {
  const { replay } = data, slider = at("hop");
  at("over").hidden = !replay;
  if (!replay) return () => {};
  let on = false, timer = null;
  slider.max = replay.steps.length - 1;
  slider.value = replay.start;
  const step = () => Number(slider.value);
  const titles = () => replay.maps.map(one => one.title.replace("{K}", replay.steps[step()]));
  const sampled = new Set(replay.nodes);
  const say = () => {
    at("hopvalue").textContent = `K = ${replay.steps[step()]}`;
    const absent = state.selected >= 0 && !sampled.has(state.selected);
    at("hopnote").hidden = !absent;
    if (absent) at("hopnote").textContent = `${cut(data.ids[state.selected], 24)} is not among the ${count(replay.nodes.length)} nodes of these maps.`;
    slider.setAttribute("aria-valuetext", `${replay.steps[step()]} hops`);
  };
  const go = () => { say(); if (on) map.move(replay.maps.map(one => one.positions[step()]), titles()); };
  const stop = () => { clearInterval(timer); timer = null; at("play").textContent = "Play"; };
  const turn = wanted => {
    on = wanted;
    at("over").setAttribute("aria-pressed", String(on));
    at("steps").hidden = !on;
    at("legend").classList.toggle("folded", on); // two maps need the room
    stop();
    if (on) map.show(replay.maps.map((one, i) => ({ title: titles()[i], positions: one.positions[step()] })), replay.nodes, data.n);
    else map.show([{ title: "", positions: data.positions }], null, data.n);
    say();
    onChange();
    map.fit();
  };
  at("over").title = `How the map of ${count(replay.nodes.length)} nodes changes with the number of hops`;
  at("over").addEventListener("click", () => turn(!on));
  slider.addEventListener("input", go);
  at("play").addEventListener("click", () => {
    if (timer) { stop(); return; }
    at("play").textContent = "Stop";
    timer = setInterval(() => { slider.value = (step() + 1) % replay.steps.length; go(); }, 1100);
  });
  say();
  return say;
}
