// Runs many scenarios in the browser: their samples equal those of the native simulator, byte for byte.
//
// `tools/page-samples` writes the native digests (`make test-page` calls it).

import { readFileSync } from "node:fs";
import { expect, test } from "@playwright/test";

interface Run {
  name: string;
  toml: string;
  seed: number;
  digest: string;
}

const ADDRESS = "http://127.0.0.1/";
const package_ = (name: string) => readFileSync(new URL(`../pkg/${name}`, import.meta.url));

test("the samples of the gallery and of the examples equal those of the native simulator", async ({ page }) => {
  test.setTimeout(180_000);
  const runs = JSON.parse(readFileSync(new URL("../native-samples.json", import.meta.url), "utf8")) as Run[];
  expect(runs.length).toBeGreaterThanOrEqual(20);
  expect(runs.some((run) => run.toml.includes("[stations."))).toBe(true);
  await page.route("**/*", (route) => {
    const name = new URL(route.request().url()).pathname.slice(1);
    if (name === "") return route.fulfill({ contentType: "text/html", body: "<title>samples</title>" });
    const contentType = name.endsWith(".wasm") ? "application/wasm" : "text/javascript";
    return route.fulfill({ contentType, body: package_(name) });
  });
  await page.goto(ADDRESS);
  const digests = await page.evaluate(async (runs: Run[]) => {
    const { default: start, Simulation } = await import(`${location.origin}/mptcplab_web.js`);
    await start({ module_or_path: `${location.origin}/mptcplab_web_bg.wasm` });
    const digest = async (toml: string, seed: number): Promise<string> => {
      const run = new Simulation(toml, seed);
      run.advance(Infinity);
      run.collect();
      const columns: ArrayBufferView[] =
        [run.sample_time(), run.sample_flow(), run.sample_path(), run.sample_metric(), run.sample_value()];
      run.free();
      const bytes = await new Blob(columns as BlobPart[]).arrayBuffer();
      const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
      return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
    };
    const all: Record<string, string> = {};
    for (const run of runs) all[run.name] = await digest(run.toml, run.seed);
    const [first] = runs;
    all["another seed"] = await digest(first!.toml, first!.seed + 1);
    return all;
  }, runs);
  for (const run of runs) expect(digests[run.name], run.name).toBe(run.digest);
  expect(digests["another seed"]).not.toBe(runs[0]!.digest);
});
