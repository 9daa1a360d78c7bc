import { deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { fileName } from "./download";
import { decodeFragment, encodeFragment, fromBase64Url, toBase64Url } from "./fragment";
import { legendOf, svgOf } from "./svg";

describe("links", () => {
  it("return the scenario and the seed", async () => {
    const toml = 'duration = "10s"\n# Größe → ok\n[paths.wifi]\nrate = "8Mbit"\n';
    const fragment = await encodeFragment({ toml, seed: 7 });
    expect(fragment).toMatch(/^#s=[A-Za-z0-9_-]+&seed=7$/);
    expect(await decodeFragment(fragment)).toEqual({ toml, seed: 7 });
  });

  it("name scenes and lessons", async () => {
    expect(await decodeFragment("#scene=handoff")).toEqual({ scene: "handoff", seed: 1 });
    expect(await decodeFragment("#lesson=slower&seed=-3")).toEqual({ lesson: "slower", seed: 1 });
    expect(await decodeFragment("")).toBeNull();
  });

  it("reject damage", async () => {
    await expect(decodeFragment("#s=AAAA")).rejects.toThrow(/damaged/);
    await expect(decodeFragment("#s=%%%")).rejects.toThrow(/damaged/);
  });

  it("reject a scenario that is too long, before it fills the memory", async () => {
    const bomb = deflateRawSync(Buffer.alloc(1 << 28)).toString("base64url");
    const before = process.memoryUsage().arrayBuffers;
    await expect(decodeFragment(`#s=${bomb}`)).rejects.toThrow(/damaged/);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1 << 26);
  });

  it("keep bytes", () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
    expect(fromBase64Url(toBase64Url(bytes))).toEqual(bytes);
  });
});

describe("downloads", () => {
  it("have safe names", () => {
    expect(fileName("../a b:c", "toml")).toBe("a-b-c.toml");
    expect(fileName("", "csv")).toBe("scenario.csv");
  });
});

describe("SVG", () => {
  it("continues a long legend in further rows", () => {
    const places = legendOf(Array.from({ length: 12 }, (_, at) => ({ label: `TCP over path ${at}` })));
    for (const { at } of places) expect(at + 42 + 7 * 15).toBeLessThanOrEqual(720);
    expect(places.at(-1)?.row).toBe(2);
  });

  it("draws gaps and escapes text", () => {
    const curve = { label: "a<b", colour: "#000", dash: [2], x: [0, 1, 2, 3], y: [1, Number.NaN, 2, 3] };
    const svg = svgOf([{ title: "T", axis: "Mb/s", from: 0, to: 3, curves: [curve] }]);
    expect(svg).toContain("a&lt;b");
    expect(svg.match(/d="M[^"]*M[^"]*L/)).not.toBeNull();
    expect(svg).not.toContain("NaN");
  });
});
