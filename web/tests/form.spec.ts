// Accessibility, narrow screens, and the theme.
import AxeBuilder from "@axe-core/playwright";
import { expect, open, runTo, selectLink, speed, test } from "./page";

for (const scheme of ["light", "dark"] as const) {
  test(`no serious accessibility problem in ${scheme} colours`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await open(page, "#lesson=slower");
    await speed(page, "max");
    await runTo(page, 5);
    for (const name of ["Messages", "Time-sequence"]) await page.getByRole("button", { name }).click();
    const check = async (): Promise<void> => {
      const { violations } = await new AxeBuilder({ page }).analyze();
      const serious = violations.filter((found) => found.impact === "serious" || found.impact === "critical");
      const words = serious.map((found) => `${found.id}: ${found.nodes.map((node) => node.target.join(" ")).join(", ")}`);
      expect(words).toEqual([]);
    };
    await check();
    await selectLink(page, "wifi");
    await check();
    await page.getByRole("tab", { name: "Scenario" }).click();
    await check();
    for (const name of ["Scenes", "Lessons", "Share", "Help"]) {
      await page.getByRole("button", { name, exact: true }).click();
      await expect(page.getByRole("dialog", { name })).toBeVisible();
      await check();
      await page.keyboard.press("Escape");
    }
  });
}

test("400 px need no horizontal scrolling", async ({ page }) => {
  await page.setViewportSize({ width: 400, height: 800 });
  for (const scene of ["three-links", "l-fat-tree", "e-wifi", "coupled"]) {
    await page.goto(`./#scene=${scene}`);
    await page.reload();
    await expect(page.getByRole("article").first()).toBeVisible();
    await runTo(page, 0.3);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), scene).toBeLessThanOrEqual(400);
  }
  for (const tab of ["Link", "Scenario"]) {
    await page.getByRole("tab", { name: tab }).click();
    expect(await page.evaluate(() => document.documentElement.scrollWidth), tab).toBeLessThanOrEqual(400);
  }
});

test("the theme can be changed, and stays", async ({ page }) => {
  await open(page);
  await page.getByRole("button", { name: "Use dark colours" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});

test("important changes are announced", async ({ page }) => {
  await open(page, "#scene=two-links");
  await speed(page, "max");
  await runTo(page, 20);
  await expect(page.getByText("The run has ended.")).toBeAttached();
});
