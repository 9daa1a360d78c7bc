import { describe, expect, it } from "vitest";
import type { Description, DirectionInfo } from "../engine/types";
import { distanceTo, heightFor, layersOf, layoutOf, pointOn } from "./layout";

const way: DirectionInfo = { rate: 1e6, delay: 0.01, loss: 0, queueFrames: 10, queueBytes: null, discipline: null };

function network(links: [string, string, string][], flows: [string, string][]): Description {
  const names = [...new Set(links.flatMap(([, from, to]) => [from, to]))];
  const hosts = new Set(flows.flat());
  return {
    name: "", description: "", duration: 1, sample: 0.1, warmup: 0, middleboxes: [], cells: [], paths: [], hosts: [], metrics: [],
    nodes: names.map((name) => ({ name, kind: hosts.has(name) ? "host" : "router" })),
    links: links.map(([name, from, to]) => ({
      name, kind: "link", ends: [from, to], cell: null, recorded: false, distance: null, forward: way, backward: way,
    })),
    flows: flows.map(([from, to], at) => ({
      name: `flow${at}`, transport: "tcp", from, to, sender: from, paths: [], scheduler: "", congestion: "", m1: false, m2: false, start: 0, stop: null,
    })),
  };
}

describe("layout", () => {
  it("draws parallel paths side by side, from left to right", () => {
    const description = network([["a", "client", "server"], ["b", "client", "server"], ["c", "client", "server"]], [["client", "server"]]);
    const layout = layoutOf(description, 900, heightFor(description, 900));
    const [a, b, c] = layout.links;
    expect(a && b && c && a.from.y < b.from.y && b.from.y < c.from.y).toBe(true);
    expect(a && a.from.x < a.to.x).toBe(true);
    expect(layout.dense).toBe(false);
  });

  it("puts the bottleneck between router and server", () => {
    const description = network(
      [["left", "phone", "r"], ["right", "phone", "r"], ["other", "laptop", "r"], ["neck", "r", "server"]],
      [["phone", "server"], ["laptop", "server"]],
    );
    const { layers } = layersOf(description);
    expect(layers.get("phone")).toBe(0);
    expect(layers.get("laptop")).toBe(0);
    expect(layers.get("r")).toBe(1);
    expect(layers.get("server")).toBe(2);
  });

  it("keeps nodes of one layer apart and inside", () => {
    const description = network(
      [["x", "a", "r"], ["y", "b", "r"], ["z", "r", "c"], ["d", "a", "c"]],
      [["a", "c"], ["b", "c"]],
    );
    for (const [width, height] of [[900, 300], [380, 260]] as const) {
      const { nodes } = layoutOf(description, width, height);
      for (const node of nodes) {
        expect(node.x - node.width / 2).toBeGreaterThanOrEqual(0);
        expect(node.x + node.width / 2).toBeLessThanOrEqual(width);
        expect(node.y - node.height / 2).toBeGreaterThanOrEqual(0);
        expect(node.y + node.height / 2).toBeLessThanOrEqual(height);
        for (const other of nodes) {
          if (other === node || other.x !== node.x) continue;
          expect(Math.abs(other.y - node.y)).toBeGreaterThanOrEqual((other.height + node.height) / 2);
        }
      }
    }
  });

  it("measures lines", () => {
    const line = { name: "", from: { x: 0, y: 10 }, to: { x: 100, y: 10 }, length: 100, labelled: true };
    expect(pointOn(line, 0.5, 5)).toEqual({ x: 50, y: 5 });
    expect(distanceTo(line, { x: 50, y: 14 })).toBe(4);
    expect(distanceTo(line, { x: 103, y: 14 })).toBe(5);
  });
});
