import { readdirSync, readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { SCENES } from "../gallery";
import { syntaxProblem } from "./check";

describe("syntaxProblem", () => {
  it("accepts all scenes and examples", () => {
    for (const { id, toml } of SCENES) expect([id, syntaxProblem(toml)]).toEqual([id, null]);
    const examples = new URL("../../../examples/", import.meta.url);
    const files = readdirSync(examples, { recursive: true }).map((name) => new URL(String(name), examples));
    for (const file of files.filter((url) => url.pathname.endsWith(".toml") && statSync(url).isFile())) {
      expect([file.pathname, syntaxProblem(readFileSync(file, "utf8"))]).toEqual([file.pathname, null]);
    }
  });

  it("accepts the other forms of TOML", () => {
    const text = 'a."b c".d = [ 1, 2.5e3, # x\n "y", ]\ne = """\nlong "text"\n"""\nf = \'raw\\\'\ng = 1979-05-27T07:32:00Z\nh = { i = true, j = [] }\r\n[[k.l]] # m\n';
    expect(syntaxProblem(text)).toBeNull();
  });

  it.each([
    ['a = "open\nb = 1', "the closing quote is missing", 1, 5],
    ["x = 1\nrate = 8Mbit", '8Mbit needs quotes: "8Mbit"', 2, 8],
    ["rate =", "a value is missing", 1, 7],
    ["[paths.wifi\nrate = 1", "] is missing", 1, 1],
    ["rate 3", "= is missing after rate", 1, 1],
    ["a = [1, 2\nb = 3", "] or a comma is missing", 1, 5],
    ["a = { b = 1", "} or a comma is missing", 1, 5],
    ["a = 1 b = 2", "there is text after the end of the value or header", 1, 7],
    ["= 3", "a key is expected here", 1, 1],
  ])("finds the error in %j", (text, message, line, column) => {
    expect(syntaxProblem(text)).toEqual({ message, line, column });
  });
});
