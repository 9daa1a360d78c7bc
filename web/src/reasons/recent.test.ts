import { describe, expect, it } from "vitest";
import type { Description, FlowInfo } from "../engine/types";
import { isDisjoint, meanAfter } from "./recent";

function network(links: [string, string, string, string?][], paths: string[]): [Description, FlowInfo] {
  const flow = { name: "f", from: "a", to: "z", paths } as unknown as FlowInfo;
  const infos = links.map(([name, one, other, cell]) => ({ name, ends: [one, other], cell: cell ?? null }));
  return [{ links: infos } as unknown as Description, flow];
}

describe("isDisjoint", () => {
  it("accepts links that lead to the other host, also over own routers", () => {
    expect(isDisjoint(...network([["x", "a", "z"], ["y", "a", "z"]], ["x", "y"]))).toBe(true);
    expect(isDisjoint(...network([["x", "a", "r"], ["r2z", "r", "z"], ["y", "z", "a"]], ["x", "y"]))).toBe(true);
  });

  it("finds a shared bottleneck and a shared channel", () => {
    expect(isDisjoint(...network([["x", "a", "r"], ["y", "a", "r"], ["b", "r", "z"]], ["x", "y"]))).toBe(false);
    expect(isDisjoint(...network([["x", "a", "z", "cell"], ["y", "a", "z", "cell"]], ["x", "y"]))).toBe(false);
  });
});

describe("meanAfter", () => {
  it("takes the values of an interval", () => {
    const time = Float64Array.of(1, 2, 3, 4);
    expect(meanAfter(time, Float64Array.of(1, 2, 4, 100), 1.5, 3)).toBe(3);
    expect(meanAfter(time, undefined, 1)).toBeNaN();
  });
});
