// Draws the pictures of the page for README and docs: `node web/images.mjs` after `make page`. The animation needs
// ImageMagick (`convert`).
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "@playwright/test";

const page_ = new URL("../python/mptcplab/page/static/index.html", import.meta.url).href;
const images = new URL("../docs/images/", import.meta.url).pathname;
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

async function opened(fragment, viewport, colorScheme) {
  const page = await browser.newPage({ viewport, colorScheme });
  await page.goto(page_ + fragment);
  await page.getByTestId("reasons").locator("article").first().waitFor();
  return page;
}

/** Plays until a time, s, and pauses. */
async function playTo(page, time) {
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.waitForFunction((time) => {
    const text = document.querySelector("[data-testid=clock]")?.textContent ?? "0";
    return parseFloat(text) >= time;
  }, time);
  await page.getByRole("button", { name: "Pause", exact: true }).click();
}

const wide = await opened("#scene=two-links", { width: 1440, height: 1000 }, "light");
await wide.getByRole("button", { name: "10×", exact: true }).click();
await playTo(wide, 12);
await wide.screenshot({ path: join(images, "page.png") });

const phone = await opened("#scene=small-buffer", { width: 400, height: 800 }, "dark");
await phone.getByRole("button", { name: "10×", exact: true }).click();
await playTo(phone, 8);
await phone.screenshot({ path: join(images, "page-phone.png") });

// The animation: DSL is unplugged, and plugged in again.
const small = await opened("#scene=two-links", { width: 1280, height: 860 }, "light");
await small.getByRole("button", { name: "1×", exact: true }).click();
await playTo(small, 2);
await small.getByRole("button", { name: /^Link / }).first().click();
await small.getByRole("button", { name: "Play", exact: true }).click();
const folder = mkdtempSync(join(tmpdir(), "page-images-"));
const frames = [];
for (let frame = 0; frame < 44; frame += 1) {
  if (frame === 8 || frame === 28) await small.getByTestId("plug").click();
  const path = join(folder, `${String(frame).padStart(3, "0")}.png`);
  await small.screenshot({ path });
  frames.push(path);
  await small.waitForTimeout(90);
}
await browser.close();
const drawn = ["-delay", "16", "-loop", "0", ...frames, "-resize", "860x"];
// Without dithering, equal areas of two frames are equal, and are stored once.
const stored = ["+dither", "-colors", "48", "-fuzz", "2%", "-layers", "OptimizePlus"];
execFileSync("convert", [...drawn, ...stored, join(images, "page.gif")]);
