import { describe, expect, it } from "vitest";
import type { SegmentView } from "../engine/types";
import { aligned, resampled, smoothed, topOf } from "./data";
import { merged, shares } from "./limits";
import { diagramOf, labelOf } from "./messages";
import { ticks } from "./ticks";

describe("data of plots", () => {
  it("interpolates, and has no values outside", () => {
    const time = Float64Array.of(1, 2, 3);
    const values = Float64Array.of(10, 20, 30);
    expect(resampled(time, values, [0.5, 1, 1.5, 3, 4])).toEqual([null, 10, 15, 30, null]);
  });

  it("adds the later times of ghosts", () => {
    const ghost = { flow: "f", path: "p", time: Float64Array.of(1, 2, 3), goodput: Float64Array.of(1e6, 2e6, 3e6), mean: 2e6 };
    const base = { label: "", colour: "", dash: [], width: 1 };
    const data = aligned(
      Float64Array.of(1, 2),
      [{ ...base, values: Float64Array.of(4e6, Number.NaN) }, { ...base, values: undefined, ghost }],
      1e6,
    );
    expect(data).toEqual([[1, 2, 3], [4, null, null], [1, 2, 3]]);
  });

  it("smooths over time, whatever the distance of the rows is", () => {
    const values = Float64Array.of(1, 3, Number.NaN, 5);
    expect([...smoothed(Float64Array.of(0.1, 0.2, 0.3, 0.4), values, 0.2)]).toEqual([1, 2, Number.NaN, 5]);
    expect([...smoothed(Float64Array.of(1, 2, 3, 4), values, 0.5)]).toEqual([1, 3, Number.NaN, 5]);
  });

  it("ignores short bursts on the axis", () => {
    const column = Array.from({ length: 200 }, () => 10);
    column[3] = 1000;
    expect(topOf([column])).toBeCloseTo(11.5);
    expect(topOf([[null]])).toBe(1);
  });

  it("has round ticks", () => {
    expect(ticks(0, 10, 5)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(ticks(0.13, 0.58, 5)).toEqual([0.2, 0.3, 0.4, 0.5]);
    expect(ticks(1, 1, 5)).toEqual([]);
  });
});

describe("limits", () => {
  it("adds up the time of each limit", () => {
    const bands = [{ from: 0, word: "window" }, { from: 1, word: "loss" }, { from: 2, word: "window" }];
    const found = shares(bands, 0, 4);
    expect(found).toEqual([{ word: "window", share: 0.75 }, { word: "loss", share: 0.25 }]);
  });
});

describe("subflows of one path", () => {
  it("share a lane, in which the newer one replaces the older one", () => {
    const old = [{ from: 0, word: "window" }, { from: 5, word: "closed" }, { from: 7, word: "idle" }];
    const fresh = [{ from: 6, word: "joining" }];
    expect(merged([fresh, old])).toEqual([old[0], old[1], fresh[0]]);
  });
});

describe("sequence diagram", () => {
  const segment = (more: Partial<SegmentView>): SegmentView => ({
    id: 1, time: 0, host: 0, path: 0, flow: 0, sent: true, flags: "SYN", seq: 0, ack: 0, length: 0, window: 0, options: [], ...more,
  });

  it("joins both ends of a segment, and marks lost ones", () => {
    const { arrows } = diagramOf(
      [segment({}), segment({ sent: false, host: 1, time: 0.01 }), segment({ id: 2, time: 0.02 })],
      0,
    );
    expect(arrows.map((arrow) => arrow.received !== null)).toEqual([true, false]);
    expect((arrows[0]?.to ?? 0) > (arrows[0]?.from ?? 0)).toBe(true);
  });

  it("names segments", () => {
    expect(labelOf(segment({ options: [{ name: "MSS", fields: [] }, { name: "MP_CAPABLE", fields: [] }] }))).toBe("SYN · MP_CAPABLE");
    expect(labelOf(segment({ flags: "ACK", length: 100, options: [{ name: "DSS", fields: [] }] }))).toBe("100 bytes · DSS");
  });
});
