import { describe, expect, it } from "vitest";
import { sceneOf } from "../gallery";
import { changesOf, inForce } from "./changes";

describe("changesOf", () => {
  it("reads events with their time and their text", () => {
    expect(changesOf(sceneOf("fading")?.toml ?? "").map(({ time, text }) => [time, text])).toEqual([
      [5, "lte: rate = 100kbit"],
      [9, "lte: rate = 6Mbit"],
    ]);
  });

  it("knows the policy in force", () => {
    const changes = changesOf('[[events]]\nat = "2500ms"\nflow = "f"\nset = { scheduler = "minrtt", congestion = "lia" }\n\n[flows.f]\nat = 1\n');
    expect(changes).toHaveLength(1);
    expect(inForce(changes, "f", "congestion", 2, "cubic")).toBe("cubic");
    expect(inForce(changes, "f", "congestion", 2.5, "cubic")).toBe("lia");
    expect(inForce(changes, "g", "congestion", 3, "cubic")).toBe("cubic");
  });
});
