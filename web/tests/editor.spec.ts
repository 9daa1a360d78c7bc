// The scenario editor: completion, errors at their line, applying.
import { expect, open, runTo, scenario, seconds, speed, test } from "./page";

test("an error is shown at its line", async ({ page }) => {
  await open(page, "#scene=two-links");
  await page.getByRole("tab", { name: "Scenario" }).click();
  const line = page.locator(".cm-line", { hasText: "16Mbit" });
  await line.click();
  await page.keyboard.press("End");
  await page.keyboard.press("Shift+Home");
  await page.keyboard.type("rate = \"fast");
  await page.keyboard.press("Control+Enter");
  const alert = page.getByTestId("editor").getByRole("alert");
  await expect(alert).toContainText("Line 8");
  await expect(page.locator(".cm-lint-marker-error")).toHaveCount(1);
  await expect(page.locator(".cm-line:has(.cm-lintRange-error)")).toContainText("fast");
  await page.getByRole("button", { name: "Discard changes" }).click();
  await expect(alert).toHaveCount(0);
  expect(await scenario(page)).toContain("16Mbit");
});

test("a change is applied at the present time", async ({ page }) => {
  await open(page, "#scene=two-links");
  await speed(page, "max");
  await runTo(page, 3);
  const before = await seconds(page);
  await page.getByRole("tab", { name: "Scenario" }).click();
  await page.locator(".cm-line", { hasText: "16Mbit" }).click();
  await page.keyboard.press("End");
  await page.keyboard.press("Shift+Home");
  await page.keyboard.type('rate = "4Mbit');
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("button", { name: /^Link dsl, 4 Mb\/s/ })).toBeVisible();
  await expect.poll(() => seconds(page)).toBeCloseTo(before, 1);
});

test("completion offers keys", async ({ page }) => {
  await open(page, "#scene=two-links");
  await page.getByRole("tab", { name: "Scenario" }).click();
  await page.locator(".cm-line", { hasText: "16Mbit" }).click();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("gil");
  await expect(page.locator(".cm-tooltip-autocomplete")).toContainText("gilbert_elliott");
});

test("a new seed starts the run anew", async ({ page }) => {
  await open(page, "#scene=two-links");
  await page.getByRole("tab", { name: "Scenario" }).click();
  await page.getByLabel("Seed").fill("5");
  await page.getByLabel("Seed").press("Enter");
  await page.getByRole("button", { name: "Share" }).click();
  await expect(page.getByLabel("Link to this scenario")).toHaveValue(/seed=5/);
  await expect(page.getByText("mptcplab run two-links.toml --seed 5")).toBeVisible();
});

test("an error of the syntax is shown while the reader types", async ({ page }) => {
  await open(page, "#scene=two-links");
  await page.getByRole("tab", { name: "Scenario" }).click();
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\nseed = 8x");
  const problem = page.getByTestId("editor").getByText(/8x needs quotes/);
  await expect(problem.first()).toBeVisible();
  await page.keyboard.press("Backspace");
  await expect(problem).toHaveCount(0);
});
