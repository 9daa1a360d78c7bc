// Compares the speed of the simulator in Chromium with that of the native build: `node web/speed.mjs` after `make build page`.
// Both run S1 (docs: mptcplab bench) five times in turns; the ratio of the fastest runs is printed.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { chromium } from "@playwright/test";

const root = new URL("../", import.meta.url).pathname;
const toml = readFileSync(`${root}python/mptcplab/scenarios/s1.toml`, "utf8");
const native = `
import sys, time
from mptcplab import _core
scenario = _core.Scenario.parse(sys.stdin.read(), "s1.toml")
begin = time.perf_counter()
_core.run(scenario, 1)
print(time.perf_counter() - begin)
`;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const page = await browser.newPage();
await page.route("**/*", (route) => {
  const name = new URL(route.request().url()).pathname.slice(1);
  if (name === "") return route.fulfill({ contentType: "text/html", body: "<title>speed</title>" });
  const contentType = name.endsWith(".wasm") ? "application/wasm" : "text/javascript";
  return route.fulfill({ contentType, body: readFileSync(`${root}web/pkg/${name}`) });
});
await page.goto("http://127.0.0.1/");
await page.evaluate(async () => {
  const { default: start, Simulation } = await import(`${location.origin}/mptcplab_web.js`);
  await start({ module_or_path: `${location.origin}/mptcplab_web_bg.wasm` });
  window.seconds = (toml) => {
    const run = new Simulation(toml, 1);
    const begin = performance.now();
    run.advance(Infinity);
    const took = (performance.now() - begin) / 1000;
    run.free();
    return took;
  };
});
const [inBrowser, natively] = [[], []];
for (let turn = 0; turn < 5; turn += 1) {
  inBrowser.push(await page.evaluate((toml) => window.seconds(toml), toml));
  natively.push(Number(execFileSync(`${root}.venv/bin/python`, ["-c", native], { input: toml })));
}
await browser.close();
const [fast, faster] = [Math.min(...inBrowser), Math.min(...natively)];
const ratio = (faster / fast).toFixed(2);
console.log(`S1: ${faster.toFixed(2)} s natively, ${fast.toFixed(2)} s in Chromium with events: ${ratio} of the native speed`);
