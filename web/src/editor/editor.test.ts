import { describe, expect, it } from "vitest";
import schema from "../../../docs/scenario.schema.json";
import { completions, helpAt } from "./completion";
import type { Node } from "./schema";
import { dotted, namesIn, placeAt } from "./toml";

const root = schema as unknown as Node;

/** Completions at the mark `|`. */
function at(text: string): string[] {
  const offset = text.indexOf("|");
  const found = completions(root, text.replace("|", ""), offset);
  return found?.options.map((option) => option.label) ?? [];
}

describe("places in TOML", () => {
  it("finds tables, keys and values", () => {
    expect(dotted('paths."my path".rate')).toEqual(["paths", "my path", "rate"]);
    expect(placeAt("[paths.wifi]\nra", 15)).toMatchObject({ kind: "key", path: ["paths", "wifi"], prefix: "ra" });
    expect(placeAt('[paths.wifi]\nrate = "', 21)).toMatchObject({ kind: "value", key: "rate", prefix: '"' });
    expect(placeAt("[pa", 3)).toMatchObject({ kind: "header", prefix: "pa" });
    expect(placeAt("# comm", 6)).toBeNull();
    const inline = "[[events]]\nset = { up = false, ra";
    expect(placeAt(inline, inline.length)).toMatchObject({ kind: "key", path: ["events", "set"], prefix: "ra", used: ["up"] });
  });

  it("collects names", () => {
    expect(namesIn('[paths.wifi]\n[paths."my lte"] # x\n[flows.bulk]').get("paths")).toEqual(["wifi", "my lte"]);
  });
});

describe("completion", () => {
  it("offers keys of the table that are not used yet", () => {
    const keys = at('[paths.wifi]\nrate = "8Mbit"\n|');
    expect(keys).toContain("delay");
    expect(keys).not.toContain("rate");
    expect(keys).not.toContain("congestion");
  });

  it("offers values", () => {
    expect(at("[flows.bulk]\nscheduler = |")).toContain('"minrtt"');
    expect(at("[flows.bulk]\npenalisation = |")).toEqual(["true", "false"]);
    expect(at("[[events]]\nset = { up = |")).toContain("false");
  });

  it("offers names of the scenario", () => {
    expect(at("[paths.wifi]\n[[events]]\npath = |")).toContain('"wifi"');
    expect(at('[paths.wifi]\n[flows.a]\npaths = [|')).toContain('"wifi"');
  });

  it("offers tables", () => {
    expect(at("[|")).toContain("paths.");
    expect(at("[[|")).toContain("events");
    expect(at("[[|")).not.toContain("paths.");
    expect(at("|")).toContain("duration");
  });
});

describe("hover help", () => {
  it("explains keys, values and tables", () => {
    const text = '[paths.wifi]\nrate = "8Mbit"\n[flows.bulk]\nscheduler = "minrtt"';
    expect(helpAt(root, text, text.indexOf("rate") + 1)?.help).toMatch(/link rate/);
    expect(helpAt(root, text, text.indexOf("minrtt") + 2)?.help).toMatch(/lowest RTT/);
    expect(helpAt(root, text, 3)?.help).toMatch(/Disjoint paths/);
  });
});
