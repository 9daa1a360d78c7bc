// A stand-in for the simulator while the page is developed. Not part of builds.
import type { Description, DirectionInfo, Frame, Source } from "../engine/types";

const way = (rate: number, delay: number, loss: number, frames: number): DirectionInfo => ({
  rate, delay, loss, queueFrames: frames, queueBytes: frames * 1514, discipline: null,
});
const METRICS = ["throughput", "goodput", "cwnd", "srtt", "in_flight", "send_queue", "receive_window", "out_of_order", "queue"];
const UNITS = ["bit/s", "bit/s", "B", "s", "B", "B", "B", "B", "B"];

export function createMock(): Source {
  const link = (name: string, rate: number, delay: number, loss: number, q: number): Description["links"][0] => ({
    name, kind: "link", ends: ["client", "server"], cell: null, recorded: false, distance: null,
    forward: way(rate, delay, loss, q), backward: way(rate, delay, loss, q),
  });
  const d: Description = {
    name: "mock", description: "Two paths.", duration: 30, sample: 0.1, warmup: 2,
    nodes: [{ name: "client", kind: "host" }, { name: "server", kind: "host" }],
    links: [link("ethernet", 10e6, 0.002, 0, 100), link("wifi", 6e6, 0.01, 0.01, 60), link("3g", 2e6, 0.075, 0, 300)],
    flows: [{ name: "bulk", transport: "mptcp", from: "client", to: "server", sender: "client", paths: ["ethernet", "wifi", "3g"], scheduler: "ontime", congestion: "lia", start: 0, stop: null }],
    middleboxes: [{ name: "nat", kind: "nat", link: "wifi", on: true }],
    cells: [], paths: ["ethernet", "wifi", "3g"], hosts: ["client", "server"],
    metrics: METRICS.map((name, i) => ({ name, unit: UNITS[i]! })),
  };
  let time = 0, speed = 0, last = 0, nextSample = 0.1, restarted = true, offset = 0;
  const up = [1, 1, 1], drops = [0, 0, 0];
  const source: Source = {
    kind: "simulator",
    can: { seek: true, edit: true, speed: true, segments: true, capture: true },
    onFrame: () => {}, onLoaded: () => {}, onGhosts: () => {}, onFailure: () => {},
    load: async (toml) => { time = 0; restarted = true; nextSample = 0.1; source.onLoaded({ toml, description: d }); send();
      source.onGhosts(d.links.map((l) => ({ flow: "bulk", path: l.name, time: Float64Array.from({ length: 300 }, (_, i) => i / 10), goodput: new Float64Array(300).fill(l.forward.rate! * 0.93), mean: l.forward.rate! * 0.93 }))); },
    edit: async (toml) => { if (toml.includes("bad")) throw { message: "paths.wifi.rate = bad: not a rate; write a rate such as \"8Mbit\"", line: 3, column: 1 }; source.onLoaded({ toml, description: d }); },
    act: async (a) => { if (a.kind === "link" && a.set.up !== undefined) up[d.links.findIndex((l) => l.name === a.link)] = a.set.up ? 1 : 0; send(); },
    setSpeed: (s) => { speed = Math.min(s, 50); last = performance.now(); if (s > 0) requestAnimationFrame(tick); },
    seek: async (t) => { time = t; restarted = true; nextSample = 0.1; send(); },
    step: async () => { time += 0.001; send(); },
    segments: async () => [
      { id: 1, time: 0, host: 0, path: 0, flow: 0, sent: true, flags: "SYN", seq: 0, ack: 0, length: 0, window: 65535, options: [{ name: "MP_CAPABLE", fields: [{ name: "version", value: "1", help: "The version of MPTCP." }] }] },
      { id: 1, time: 0.002, host: 1, path: 0, flow: 0, sent: false, flags: "SYN", seq: 0, ack: 0, length: 0, window: 65535, options: [] },
    ],
    capture: async () => new Uint8Array(10), csv: async () => "a,b\n", close: () => {},
  };
  function tick(): void {
    const now = performance.now();
    if (speed === 0) return;
    time = Math.min(d.duration, time + ((now - last) / 1000) * speed); last = now; send();
    if (time < d.duration) requestAnimationFrame(tick);
  }
  function send(): void {
    const directions: number[] = [], packets: number[] = [];
    d.links.forEach((l, i) => {
      if (Math.random() < 0.02 && up[i]) drops[i]! += 1;
      for (const way of [0, 1]) {
        const q = way === 0 && up[i] ? (l.forward.queueBytes! * (0.4 + 0.4 * Math.sin(time + i))) : 0;
        directions.push(q, q / 1514, l.forward.rate!, l.forward.delay, l.forward.loss, up[i]!, way ? 0 : drops[i]!, 0, 0);
        if (!up[i]) continue;
        const count = Math.min(30, (l.forward.rate! * l.forward.delay) / 12000 + 1), phase = (time * l.forward.rate! / 12000 / 20) % 1;
        for (let k = 0; k < count; k++) packets.push(i, way, ((k + phase) / count) % 1, way ? 1 : k % 7 === 3 ? 2 : 0, 0, i);
      }
    });
    const rows: [number, number, number, number][] = [], ev: [number, number, string, string, number, number][] = [];
    while (nextSample <= time) {
      const t = nextSample;
      d.links.forEach((l, i) => {
        const c = 30000 * (1 + ((t + i) % 3)), r = up[i] ? l.forward.rate! * (0.8 + 0.15 * Math.sin(t * 3 + i)) : 0;
        [r, r, c, 2 * l.forward.delay * (1.5 + 0.4 * Math.sin(t)), c * 0.9, NaN, NaN, NaN, 40000 * (1 + Math.sin(t + i))].forEach((v, m) => rows.push([t, i, m, v]));
        ev.push([t, i, "subflow_blocked", ["bottleneck", "window", "head_of_line", "loss"][Math.floor(Math.random() * 4)]!, 0, 0]);
        ev.push([t, i, Math.random() < 0.1 ? "reinjection" : "schedule", "", (offset += 1400), 1400]);
      });
      [16e6, 15e6, NaN, NaN, NaN, 4e5, 3e5 + 1e5 * Math.sin(t), 1e5, NaN].forEach((v, m) => rows.push([t, 3, m, v]));
      nextSample += 0.1;
    }
    const words = ["", "subflow_blocked", "schedule", "reinjection", "bottleneck", "window", "head_of_line", "loss"];
    const col = (f: (e: (typeof ev)[0]) => number) => ev.map(f);
    const frame: Frame = {
      time, finished: time >= d.duration, speed, directions: Float64Array.from(directions), packets: Float32Array.from(packets),
      flows: [{ written: 1e6, received: 9e5, sendQueue: 1e5, peerWindow: 3e5, outOfOrder: 8e4, receiveBuffer: 4e5, finished: false, multipath: true, fellBack: null,
        subflows: d.links.map((l, i) => ({ path: i, cwnd: 30000 * (1 + ((time + i) % 3)), ssthresh: null, inFlight: 27000 * (1 + ((time + i) % 3)), srtt: l.forward.delay * 3, minRtt: l.forward.delay * 2, backup: false, limit: "bottleneck" })) }],
      samples: { time: Float64Array.from(rows, (r) => r[0]), flow: new Uint16Array(rows.length), path: Uint16Array.from(rows, (r) => r[1]), metric: Uint8Array.from(rows, (r) => r[2]), value: Float64Array.from(rows, (r) => r[3]) },
      events: { time: Float64Array.from(col((e) => e[0])), host: new Uint16Array(ev.length), flow: new Uint16Array(ev.length), path: Uint16Array.from(col((e) => e[1])), subflow: Uint16Array.from(col((e) => e[1])), other: new Uint16Array(ev.length).fill(65535), kind: Uint8Array.from(col((e) => words.indexOf(e[2]))), what: Uint8Array.from(col((e) => Math.max(0, words.indexOf(e[3])))), numbers: [Float64Array.from(col((e) => e[4])), Float64Array.from(col((e) => e[5])), new Float64Array(ev.length)], words },
      restarted, reasons: [["bulk gets 15 Mb/s over ethernet, wifi and 3g.", "The queue of ethernet limits the flow for 60% of the time."]],
    };
    restarted = false;
    source.onFrame(frame);
  }
  return source;
}
