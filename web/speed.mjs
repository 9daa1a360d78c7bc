// Compares the speed of the simulator in Chromium with that of the native build: `node web/speed.mjs` after `make build page`.
// Both run S1 (docs: mptcplab bench) five times in turns, without an observer, and with the events that the page records. The ratios of
// the fastest runs are printed.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { chromium } from "@playwright/test";

const root = new URL("../", import.meta.url).pathname;
const toml = readFileSync(`${root}python/mptcplab/scenarios/s1.toml`, "utf8");
const events = ["schedule", "reinjection", "retransmission", "penalty", "loss", "timeout", "subflow_blocked", "subflow", "connection"];
const native = `
import json, sys, time
from mptcplab import _core
scenario = _core.Scenario.parse(sys.stdin.read(), "s1.toml")
took = []
for trace in (None, (${JSON.stringify(events)}, 0.0, 1e9)):
    begin = time.perf_counter()
    _core.run(scenario, 1, None, trace)
    took.append(time.perf_counter() - begin)
print(json.dumps(took))
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
    // Plain TCP over the only path, without an observer, is the comparison of a Multipath TCP flow.
    const whole = new Simulation(toml.replace('transport = "tcp"', ""), 1);
    const runs = [whole.ghost(0), new Simulation(toml, 1)];
    return runs.map((run) => {
      const begin = performance.now();
      run.advance(Infinity);
      return (performance.now() - begin) / 1000;
    });
  };
});
const [inBrowser, natively] = [[], []];
for (let turn = 0; turn < 5; turn += 1) {
  inBrowser.push(await page.evaluate((toml) => window.seconds(toml), toml));
  natively.push(JSON.parse(execFileSync(`${root}.venv/bin/python`, ["-c", native], { input: toml }).toString()));
}
await browser.close();
for (const [at, what] of ["without an observer", "with the events of the page"].entries()) {
  const [slow, fast] = [inBrowser, natively].map((runs) => Math.min(...runs.map((run) => run[at])));
  const ratio = (fast / slow).toFixed(2);
  console.log(`S1 ${what}: ${fast.toFixed(2)} s natively, ${slow.toFixed(2)} s in Chromium: ${ratio} of the native speed`);
}
