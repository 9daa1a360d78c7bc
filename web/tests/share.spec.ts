// Links, downloads, and the page as a file.
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { expect, open, runTo, scenario, selectLink, speed, test } from "./page";

test("a link contains the changed scenario", async ({ page, context }) => {
  // The query of a served page has the token of its server.
  await open(page, "?secret=1#scene=three-links");
  await speed(page, "max");
  await runTo(page, 1);
  const panel = await selectLink(page, "wifi");
  await panel.getByTestId("plug").click();
  await expect.poll(() => scenario(page)).toContain("up = false");
  const toml = await scenario(page);
  await page.getByRole("button", { name: "Share" }).click();
  const field = page.getByLabel("Link to this scenario");
  await expect(field).toHaveValue(/^[^?]*#s=/);
  const second = await context.newPage();
  await second.goto(await field.inputValue());
  await expect(second.getByTestId("clock")).toHaveText("0.000 s");
  await expect.poll(() => scenario(second)).toBe(toml);
});

test("a damaged link shows a message", async ({ page }) => {
  await page.goto("./#s=AAAA");
  await expect(page.getByRole("alert")).toContainText("damaged");
});

test("downloads", async ({ page }) => {
  await open(page, "#scene=two-links");
  await speed(page, "max");
  await runTo(page, 2);
  await page.getByRole("button", { name: "Share" }).click();
  const fetched = async (name: string): Promise<Buffer> => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
    return readFile(await download.path());
  };
  expect((await fetched("Scenario (TOML)")).toString()).toContain("[paths.dsl]");
  expect((await fetched("Samples (CSV)")).toString()).toContain("goodput");
  expect((await fetched("Packets (pcapng)")).readUInt32LE(0)).toBe(0x0a0d0d0a);
  expect((await fetched("Plots (PNG)")).subarray(1, 4).toString()).toBe("PNG");
  expect((await fetched("Plots (SVG)")).toString()).toContain("<svg");
});

test("the page works as a file", async ({ page }) => {
  await page.goto(`${pathToFileURL("dist/index.html").href}#scene=handoff`);
  await expect(page.getByRole("article", { name: "Flow bulk" })).toBeVisible();
  await speed(page, "max");
  await runTo(page, 25);
});
