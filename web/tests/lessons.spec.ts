// Each lesson from its first to its last step.
import { LESSONS } from "../src/lessons";
import { expect, open, runTo, scenario, seconds, selectLink, speed, test } from "./page";
import type { Page } from "@playwright/test";

/** Performs a task as a reader would. */
async function perform(page: Page, text: string): Promise<void> {
  const until = /reach ([\d.]+) s/.exec(text)?.[1];
  const link = /link (\w+)/.exec(text)?.[1];
  const plot = /Open the plot ([\w-]+)/.exec(text)?.[1];
  if (until) return runTo(page, Math.max(Number(until), await seconds(page)));
  if (plot) {
    const chip = page.getByRole("group", { name: "Open plots" }).getByRole("button", { name: plot });
    if ((await chip.getAttribute("aria-pressed")) === "false") await chip.click();
    return;
  }
  if (link && /Unplug|Plug in/.test(text)) {
    const panel = await selectLink(page, link);
    await panel.getByTestId("plug").click();
    return runTo(page, (await seconds(page)) + 0.3);
  }
  if (text.includes("without notice")) {
    await runTo(page, 1);
    const panel = await selectLink(page, "ethernet");
    await panel.getByLabel("The host does not notice it").check();
    await panel.getByTestId("plug").click();
    return;
  }
  if (text.includes("Choose lia")) {
    const card = page.getByRole("article", { name: "Flow mptcp" });
    await card.getByText("Settings of mptcp").click();
    await card.getByLabel(/Congestion control/).selectOption("lia");
    return;
  }
  throw new Error(`no hands for: ${text}`);
}

for (const lesson of LESSONS) {
  test(`lesson ${lesson.id} can be completed`, async ({ page }) => {
    await open(page);
    await page.getByRole("button", { name: "Lessons" }).click();
    await page.getByRole("button", { name: new RegExp(lesson.title.slice(0, 20)) }).click();
    const panel = page.getByTestId("lesson");
    for (const [at, step] of lesson.steps.entries()) {
      await expect(panel.getByRole("heading", { level: 2 })).toHaveText(step.title);
      await expect(panel.locator("header")).toContainText(`step ${at + 1} of`);
      if (step.setup?.scene) {
        await expect.poll(() => seconds(page)).toBe(0);
        // The run of the step before was further, but its tasks are not those of this step.
        await page.waitForTimeout(200);
        await expect(panel.locator(".tasks li.done")).toHaveCount(0);
      }
      // A step with several tasks needs time between them.
      const tasks = step.tasks ?? [];
      await speed(page, tasks.length === 1 && /reach/.test(tasks[0]?.text ?? "") && lesson.id !== "handoff" ? "max" : "10×");
      for (const [index, task] of (step.tasks ?? []).entries()) {
        await perform(page, task.text);
        await expect(panel.locator(".tasks li").nth(index), `${step.title}: ${task.text}`).toHaveClass(/done/);
      }
      const { question } = step;
      if (question) {
        const wrong = question.choices.find((choice) => !choice.right);
        await panel.getByLabel(wrong?.text ?? "", { exact: true }).check();
        await expect(panel.getByText("No.", { exact: false }).last()).toBeVisible();
        const right = question.choices.find((choice) => choice.right);
        await panel.getByLabel(right?.text ?? "", { exact: true }).check();
        await expect(panel.getByText(right?.feedback ?? "")).toBeVisible();
      }
      const last = at === lesson.steps.length - 1;
      await panel.getByRole("button", { name: last ? /Next lesson|Finish/ : "Next", exact: !last }).click();
    }
  });
}

test("Back loads the scene that the earlier steps use", async ({ page }) => {
  await open(page, "#lesson=slower");
  const panel = page.getByTestId("lesson");
  const title = panel.getByRole("heading", { level: 2 });
  while ((await title.innerText()) !== "A larger buffer") {
    const before = await title.innerText();
    await panel.getByRole("button", { name: "Skip this step" }).click();
    await expect(title).not.toHaveText(before);
  }
  await expect.poll(() => scenario(page)).toContain('name = "large-buffer"');
  await panel.getByRole("button", { name: "Back" }).click();
  await expect.poll(() => scenario(page)).toContain('name = "small-buffer"');
});

test("a lesson that is entered again starts without ticks, and its speed ends with it", async ({ page }) => {
  await open(page, "#lesson=slower");
  const panel = page.getByTestId("lesson");
  await speed(page, "max");
  await runTo(page, 30);
  await expect(panel.locator(".tasks li.done")).toHaveCount(1);
  await page.getByRole("button", { name: "Lessons" }).click();
  await page.getByRole("button", { name: /^Why two links/ }).click();
  await expect.poll(() => seconds(page)).toBe(0);
  await page.waitForTimeout(300);
  await expect(panel.locator(".tasks li.done")).toHaveCount(0);
  await panel.getByRole("button", { name: "Skip this step" }).click();
  await panel.getByRole("button", { name: "Skip this step" }).click();
  await expect(panel.getByRole("heading", { level: 2 })).toBeInViewport();
  await expect(page.getByRole("slider", { name: "Speed" })).toHaveAttribute("aria-valuetext", "0.3×");
  await panel.getByRole("button", { name: "Close the lesson" }).click();
  await expect(page.getByRole("slider", { name: "Speed" })).toHaveAttribute("aria-valuetext", "1×");
});

test("a change after the end of the run goes back to the start", async ({ page }) => {
  await open(page, "#lesson=fairness");
  const panel = page.getByTestId("lesson");
  for (let step = 1; step < 6; step += 1) await panel.getByRole("button", { name: /Skip this step|Next/ }).click();
  await expect(panel.locator("header")).toContainText("step 6");
  await speed(page, "max");
  await runTo(page, 40);
  const ticks = panel.locator(".tasks li.done");
  await expect(ticks).toHaveCount(1);
  const card = page.getByRole("article", { name: "Flow mptcp" });
  await card.getByText("Settings of mptcp").click();
  await card.getByLabel(/Congestion control/).selectOption("lia");
  await expect(ticks).toHaveCount(2);
  await expect(page.getByRole("alert")).toHaveCount(0);
  expect(await seconds(page)).toBe(0);
  await expect(page.getByText("back at its start").first()).toBeVisible();
  await runTo(page, 38);
  await expect(ticks).toHaveCount(3);
});

for (const size of [{ width: 1440, height: 900 }, { width: 400, height: 800 }]) {
  test(`the welcome leaves the network on the screen, ${size.width} px`, async ({ page }) => {
    await page.setViewportSize(size);
    await open(page);
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.setItem("greet", "yes");
    });
    await page.reload();
    const welcome = page.getByTestId("welcome");
    await expect(welcome).toBeVisible();
    await expect(page.getByRole("button", { name: "host client" })).toBeInViewport({ ratio: 1 });
    await welcome.getByRole("button", { name: "Start the first lesson" }).click();
    await expect(page.getByTestId("lesson")).toBeVisible();
    await page.getByRole("button", { name: "Close the lesson" }).click();
    await expect(welcome).toBeHidden();
    await page.reload();
    await expect(page.getByTestId("reasons").locator("article").first()).toBeVisible();
    await expect(welcome).toBeHidden();
  });
}

test("changes appear on the timeline with their text", async ({ page }) => {
  await open(page, "#scene=fading");
  const list = page.getByRole("list", { name: "Changes during the run" });
  await expect(list.getByRole("listitem")).toHaveText([/5.000 s, event of the scenario: lte: rate = 100kbit/, /9.000 s/]);
  await runTo(page, 0.5);
  const card = page.getByRole("article", { name: "Flow bulk" });
  await card.getByText("Settings of bulk").click();
  await card.getByLabel(/Scheduler/).selectOption("roundrobin");
  await expect(list.getByRole("listitem").first()).toHaveText(/your change: bulk: scheduler = roundrobin/);
  await expect(card.getByLabel(/Scheduler/)).toHaveValue("roundrobin");
  await page.getByRole("button", { name: "Jump to the start" }).click();
  await expect(card.getByLabel(/Scheduler/)).toHaveValue("minrtt");
});
