// Shared parts of the tests: a page that fails on errors, and steps that many tests need.
import { test as base, expect, type Locator, type Page } from "@playwright/test";

/** A page whose errors and foreign requests fail the test. */
export const test = base.extend<{ errors: string[] }>({
  errors: [
    async ({ page }, use) => {
      const errors: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text());
      });
      page.on("pageerror", (error) => errors.push(error.message));
      page.on("request", (request) => {
        const url = new URL(request.url());
        if (/^https?:$/.test(url.protocol) && url.hostname !== "127.0.0.1") errors.push(`request to ${url.host}`);
      });
      // The welcome has buttons with the names of others, and a test of its own.
      await page.addInitScript(() => sessionStorage.getItem("greet") ?? localStorage.setItem("mptcplab-welcome", "closed"));
      await use(errors);
      expect(errors).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

export async function open(page: Page, fragment = ""): Promise<void> {
  await page.goto(`./${fragment}`);
  await expect(page.getByTestId("reasons").locator("article").first()).toBeVisible();
  await expect(page.getByTestId("clock")).toHaveText("0.000 s");
}

export async function seconds(page: Page): Promise<number> {
  const text = await page.getByTestId("clock").innerText();
  const [rest = "0", minutes = "0"] = text.replace(" s", "").split(":").reverse();
  return 60 * Number(minutes) + Number(rest);
}

/** Runs until a time, then pauses. The run may go on a little, or to its end. */
export async function runTo(page: Page, time: number): Promise<void> {
  const play = page.getByRole("button", { name: "Play", exact: true });
  if ((await play.count()) > 0) await play.click();
  await expect.poll(() => seconds(page), { timeout: 30_000, intervals: [50] }).toBeGreaterThanOrEqual(time);
  // The run may end while the click is on its way: the button then says Replay, which must not be clicked.
  const pause = page.getByRole("button", { name: "Pause", exact: true });
  if ((await pause.count()) > 0) await pause.click({ timeout: 4000 }).catch(() => {});
  await expect(pause).toHaveCount(0);
  // A frame from before the pause may still arrive.
  const moved = async () => {
    const before = await seconds(page);
    await page.waitForTimeout(60);
    return (await seconds(page)) - before;
  };
  await expect.poll(moved).toBe(0);
}

export function speed(page: Page, name: string): Promise<void> {
  return page.getByRole("button", { name, exact: true }).click();
}

export async function selectLink(page: Page, name: string): Promise<Locator> {
  await page.getByRole("button", { name: new RegExp(`^Link ${name}\\b`) }).click();
  const panel = page.getByTestId("link-panel");
  await expect(panel).toBeVisible();
  return panel;
}

/** The present text of the scenario, from the editor. */
export async function scenario(page: Page): Promise<string> {
  await page.getByRole("tab", { name: "Scenario" }).click();
  // CodeMirror draws only visible lines, so the text is read from its state.
  return page.evaluate(() => {
    const content = document.querySelector(".cm-content") as (HTMLElement & { cmTile?: unknown; cmView?: unknown }) | null;
    const holder = content as unknown as { cmTile?: { view: { state: { doc: unknown } } }; cmView?: { view: { state: { doc: unknown } } } };
    return String((holder.cmTile ?? holder.cmView)?.view.state.doc ?? content?.innerText ?? "");
  });
}
