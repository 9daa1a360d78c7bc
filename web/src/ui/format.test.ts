import { describe, expect, it } from "vitest";
import { clockText, digits, rateText, shareText, sizeText, timeText } from "./format";
import { Hues } from "./palette";
import { parts } from "./prose";
import { fromPosition, POSITIONS, toPosition } from "./slider";

describe("format", () => {
  it("writes units", () => {
    expect(rateText(8e6)).toBe("8 Mb/s");
    expect(rateText(999_960)).toBe("1 Mb/s");
    expect(sizeText(1500)).toBe("1.5 kB");
    expect(timeText(0.02)).toBe("20 ms");
    expect(timeText(0)).toBe("0 µs");
    expect(shareText(0.005)).toBe("0.5%");
    expect(rateText(Number.NaN)).toBe("–");
    expect(digits(12.345)).toBe("12.3");
    expect(digits(1234)).toBe("1234");
  });

  it("writes times of a run", () => {
    expect(clockText(1.5)).toBe("1.500 s");
    expect(clockText(75, 0)).toBe("1:15");
    expect(clockText(61.5)).toBe("1:01.500");
  });
});

describe("slider", () => {
  const scale = { low: 1e3, high: 1e9, linear: false, zero: true };
  it("has zero at its left end", () => {
    expect(fromPosition(scale, 0)).toBe(0);
    expect(toPosition(scale, 0)).toBe(0);
    expect(fromPosition(scale, POSITIONS)).toBe(1e9);
  });

  it("returns to a value within a step", () => {
    for (const value of [1e3, 2.5e6, 1e9]) {
      const back = fromPosition(scale, Math.round(toPosition(scale, value)));
      expect(back / value).toBeGreaterThan(0.92);
      expect(back / value).toBeLessThan(1.08);
    }
  });
});

describe("hues", () => {
  it("gives each path of each flow a colour", () => {
    const hues = new Hues([
      { name: "mptcp", paths: ["wifi", "lte"] },
      { name: "tcp", paths: ["wifi"] },
    ]);
    expect(hues.of("mptcp", "wifi")).toBe(0);
    expect(hues.of("mptcp", "lte")).toBe(1);
    expect(hues.of("tcp", "wifi")).toBe(2);
    expect(hues.link("wifi")).toBe(0);
    expect(hues.of("mptcp", "wifi#3")).toBe(2);
    expect(hues.of("mptcp", "unknown")).toBe(-1);
  });
});

describe("prose", () => {
  it("splits marks", () => {
    expect(parts("a **b** `c` *d*.").map((part) => part.kind)).toEqual([
      "plain", "bold", "plain", "code", "plain", "emphasis", "plain",
    ]);
  });
});
