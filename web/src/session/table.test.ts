import { describe, expect, it } from "vitest";
import { SampleTable } from "./table";

describe("SampleTable", () => {
  it("joins samples of one time to a row", () => {
    const table = new SampleTable(8);
    table.add(1, 1, 10);
    table.add(1, 2, 20);
    table.add(2, 1, 11);
    table.endBatch();
    expect([...table.time()]).toEqual([1, 2]);
    expect([...(table.column(1) ?? [])]).toEqual([10, 11]);
    expect([...(table.column(2) ?? [])]).toEqual([20, Number.NaN]);
    expect(table.column(3)).toBeUndefined();
  });

  it("keeps its size, and the mean of all samples", () => {
    const table = new SampleTable(16);
    for (let time = 0; time < 1000; time += 1) {
      table.add(time, 7, time);
      table.endBatch();
    }
    expect(table.length).toBeLessThanOrEqual(16);
    expect(table.length).toBeGreaterThan(7);
    const values = [...(table.column(7) ?? [])];
    expect(values).toEqual([...values].sort((a, b) => a - b));
    // The first row is the mean of the first 2^n samples.
    expect(values[0]).toBeCloseTo(((values[1] ?? 0) - (values[0] ?? 0) - 1) / 2, 6);
  });

  it("forgets everything when cleared", () => {
    const table = new SampleTable(4);
    table.add(1, 1, 1);
    table.endBatch();
    table.clear();
    expect(table.length).toBe(0);
    expect(table.column(1)).toBeUndefined();
  });
});
