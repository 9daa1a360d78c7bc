// An hour of virtual time at the highest speed: the processes of the page do not grow.
import { deflateRawSync } from "node:zlib";
import { readFileSync } from "node:fs";
import type { Browser } from "@playwright/test";
import { expect, open, seconds, speed, test } from "./page";

const HOUR = `name = "hour"
duration = "3600s"
[paths.wifi]
rate = "3Mbit"
rtt = "20ms"
loss = "0.1%"
[paths.lte]
rate = "2Mbit"
rtt = "60ms"
[flows.download]
direction = "download"
`;
/** What the page may grow by between the tenth minute and the end, MB: garbage that no collection has removed yet. */
const SLACK = 60;

/** Resident memory of the renderers, MB, after a collection of garbage. */
async function resident(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const pages = processInfo.filter((one) => one.type === "renderer");
  const sizes = pages.map(({ id }) => Number(readFileSync(`/proc/${id}/statm`, "utf8").split(" ")[1]) * 4096);
  return sizes.reduce((sum, size) => sum + size, 0) / 1e6;
}

test("an hour at the highest speed needs no more memory than its first minutes", async ({ page, browser }) => {
  test.skip(process.platform !== "linux", "memory is read from /proc");
  test.setTimeout(240_000);
  await open(page, `#s=${deflateRawSync(HOUR).toString("base64url")}&seed=1`);
  const session = await page.context().newCDPSession(page);
  const collected = async () => {
    await session.send("HeapProfiler.collectGarbage");
    return resident(browser);
  };
  await speed(page, "max");
  const play = page.getByRole("button", { name: "Play", exact: true });
  if ((await play.count()) > 0) await play.click();
  await expect.poll(() => seconds(page), { timeout: 60_000 }).toBeGreaterThan(600);
  const early = await collected();
  await expect.poll(() => seconds(page), { timeout: 180_000 }).toBe(3600);
  const late = await collected();
  expect(late, `${early.toFixed(0)} MB after ten minutes`).toBeLessThan(early + SLACK);
  console.log(`${early.toFixed(0)} MB after ten minutes, ${late.toFixed(0)} MB after an hour`);
});
