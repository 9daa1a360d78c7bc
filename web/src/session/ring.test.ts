import { describe, expect, it } from "vitest";
import { Bands, thinned } from "./bands";
import { Ring } from "./ring";

describe("Ring", () => {
  it("keeps the newest rows", () => {
    const ring = new Ring(3, 2);
    for (let row = 0; row < 5; row += 1) ring.push(row, row * 10);
    expect(ring.length).toBe(3);
    expect(ring.overflowed).toBe(true);
    expect([0, 1, 2].map((row) => ring.at(row, 1))).toEqual([20, 30, 40]);
    expect(ring.lowerBound(3)).toBe(1);
    expect(ring.lowerBound(9)).toBe(3);
  });
});

describe("Bands", () => {
  it("joins equal neighbours, and replaces a word at the same time", () => {
    const bands = new Bands();
    bands.add("a", 0, "window");
    bands.add("a", 1, "window");
    bands.add("a", 2, "loss");
    bands.add("a", 2, "bottleneck");
    expect(bands.lane("a")).toEqual([
      { from: 0, word: "window" },
      { from: 2, word: "bottleneck" },
    ]);
  });

  it("stays bounded", () => {
    const bands = new Bands();
    for (let at = 0; at < 20_000; at += 1) bands.add("a", at, at % 2 === 0 ? "window" : "loss");
    expect(bands.lane("a").length).toBeLessThanOrEqual(3001);
  });

  it("drops short bands first", () => {
    const kept = thinned([
      { from: 0, word: "a" },
      { from: 10, word: "b" },
      { from: 10.1, word: "c" },
      { from: 20, word: "d" },
    ]);
    expect(kept.map((band) => band.word)).not.toContain("b");
  });
});
