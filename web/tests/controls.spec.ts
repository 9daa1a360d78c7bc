// Each control of the page, with the real simulator.
import { expect, open, runTo, scenario, seconds, selectLink, speed, test } from "./page";

test("time: play, pause, step, jump and seek", async ({ page }) => {
  await open(page, "#scene=two-links");
  await page.getByRole("button", { name: /process one event/ }).click();
  await page.getByRole("button", { name: /process one event/ }).click();
  await page.getByTestId("play").click();
  await expect.poll(() => seconds(page)).toBeGreaterThan(0.3);
  await page.getByTestId("play").click();
  // A frame may still be on its way.
  await page.waitForTimeout(150);
  const paused = await seconds(page);
  await page.waitForTimeout(200);
  expect(await seconds(page)).toBe(paused);
  await speed(page, "max");
  await runTo(page, 20);
  expect(await seconds(page)).toBe(20);
  await page.getByRole("button", { name: "Back by 1 s" }).click();
  await expect.poll(() => seconds(page)).toBe(19);
  await page.getByLabel("Time of the run").fill("5");
  await expect.poll(() => seconds(page)).toBeCloseTo(5, 1);
  await page.getByRole("button", { name: "Jump to the start" }).click();
  await expect.poll(() => seconds(page)).toBe(0);
});

test("time: keys", async ({ page }) => {
  await open(page, "#scene=two-links");
  await page.locator("#picture").focus();
  await page.keyboard.press("Space");
  await expect.poll(() => seconds(page)).toBeGreaterThan(0.1);
  await page.keyboard.press("Space");
  await page.waitForTimeout(150);
  const paused = await seconds(page);
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => seconds(page)).toBeCloseTo(paused + 1, 2);
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => seconds(page)).toBeCloseTo(paused, 2);
  await page.keyboard.press("Home");
  await expect.poll(() => seconds(page)).toBe(0);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Help" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog", { name: "Help" })).toBeHidden();
});

test("link: sliders, unplug and plug in", async ({ page }) => {
  await open(page, "#scene=three-links");
  await speed(page, "10×");
  await runTo(page, 1);
  const panel = await selectLink(page, "wifi");
  await panel.getByLabel("Rate in Mb/s").fill("7");
  await panel.getByLabel("Rate in Mb/s").press("Enter");
  await expect(page.getByRole("button", { name: /^Link wifi, 7 Mb\/s/ })).toBeVisible();
  await panel.getByLabel("Loss in %").fill("2");
  await panel.getByLabel("Loss in %").press("Enter");
  await panel.getByLabel("Delay in ms").fill("30");
  await panel.getByLabel("Delay in ms").press("Enter");
  await panel.getByLabel("Queue in packets").fill("77");
  await panel.getByLabel("Queue in packets").press("Enter");
  await runTo(page, (await seconds(page)) + 0.5);
  await expect(page.getByRole("button", { name: /^Link wifi, 7 Mb\/s · 30 ms · 2% loss/ })).toBeVisible();
  await panel.getByTestId("plug").click();
  await runTo(page, (await seconds(page)) + 0.5);
  await expect(page.getByRole("button", { name: /^Link wifi.*down/ })).toBeVisible();
  await panel.getByTestId("plug").click();
  await runTo(page, (await seconds(page)) + 0.5);
  await expect(page.getByRole("button", { name: /^Link wifi.*down/ })).toHaveCount(0);
  const toml = await scenario(page);
  for (const part of ["7Mbit", "30ms", '"2%"', "77p", "up = false", "up = true"]) expect(toml).toContain(part);
});

test("link: a slider moves the rate of one direction", async ({ page }) => {
  await open(page, "#scene=two-links");
  await runTo(page, 0.2);
  const panel = await selectLink(page, "dsl");
  await panel.getByLabel("to client", { exact: true }).check();
  const slider = panel.getByRole("slider", { name: "Rate" });
  await slider.focus();
  for (let press = 0; press < 5; press += 1) await slider.press("ArrowLeft");
  await page.waitForTimeout(400);
  await runTo(page, (await seconds(page)) + 0.2);
  const toml = await scenario(page);
  expect(toml).toContain('direction = "backward"');
  // One event for five presses, because the slider reports when it rests.
  expect(toml.match(/\[\[events\]\]/g)).toHaveLength(1);
});

test("add a path, flows and a middlebox", async ({ page }) => {
  await open(page, "#scene=two-links");
  await speed(page, "10×");
  await runTo(page, 1);
  const add = page.getByRole("group", { name: "Add to the network" });
  await add.getByRole("button", { name: "Path" }).click();
  await page.getByLabel("Name").fill("satellite");
  await page.getByRole("button", { name: "Add path" }).click();
  await expect(page.getByRole("button", { name: /^Link satellite/ })).toBeVisible();
  for (const transport of ["tcp", "udp", "mptcp"]) {
    await add.getByRole("button", { name: "Flow" }).click();
    await page.getByLabel("Transport").selectOption(transport);
    const button = page.getByRole("button", { name: "Add flow" });
    if (transport === "mptcp") {
      for (const box of await page.getByRole("dialog").getByRole("checkbox").all()) await box.uncheck();
      await expect(button).toBeDisabled();
      await page.getByRole("dialog").getByRole("checkbox").first().check();
    } else {
      await expect(page.getByRole("dialog").getByRole("combobox", { name: /^Path/ })).not.toHaveValue("");
    }
    await button.click();
    await expect(page.getByRole("article", { name: `Flow ${transport}`, exact: true })).toBeVisible();
  }
  await add.getByRole("button", { name: "Middlebox" }).click();
  await page.getByRole("dialog").getByLabel("Type").selectOption("nat");
  await expect(page.getByRole("dialog").getByLabel("Link")).toHaveValue("dsl");
  await page.getByRole("dialog").getByRole("button", { name: "Add middlebox" }).click();
  await expect(page.getByRole("button", { name: /^Middlebox nat/ })).toBeVisible();
  await page.getByRole("button", { name: /^Middlebox nat/ }).click();
  await page.getByTestId("link-panel").getByRole("checkbox", { name: /nat/ }).click();
  await runTo(page, (await seconds(page)) + 1);
  const toml = await scenario(page);
  expect(toml).toContain("[paths.satellite]");
  expect(toml).toContain("[middleboxes.nat]");
});

test("flow: scheduler, congestion control, receive buffer and stop", async ({ page }) => {
  await open(page, "#scene=two-links");
  await speed(page, "10×");
  await runTo(page, 2);
  const card = page.getByRole("article", { name: "Flow download" });
  await card.getByText("Settings of download").click();
  await card.getByLabel(/Scheduler/).selectOption("roundrobin");
  await card.getByLabel(/Congestion control/).selectOption("cubic");
  await card.getByLabel("Receive buffer in kB").fill("300");
  await card.getByLabel("Receive buffer in kB").press("Enter");
  await expect(card.getByLabel(/Scheduler/)).toHaveValue("roundrobin");
  await expect(card.getByLabel(/Congestion control/)).toHaveValue("cubic");
  await card.getByRole("button", { name: "Stop download" }).click();
  await runTo(page, (await seconds(page)) + 0.1);
  const toml = await scenario(page);
  for (const part of ['"roundrobin"', '"cubic"', "300000B", "stop = "]) expect(toml).toContain(part);
});

test("plots open and close, and show a part of the run", async ({ page }) => {
  await open(page, "#scene=small-buffer");
  await speed(page, "10×");
  await runTo(page, 8);
  const chips = page.getByRole("group", { name: "Open plots" });
  for (const name of ["Throughput", "Queues", "Buffers", "Time-sequence", "Messages"]) {
    await chips.getByRole("button", { name }).click();
  }
  await expect(page.locator("section[aria-label=Plots] figure")).toHaveCount(9);
  await expect(page.getByRole("figure", { name: /^Limiting factor.*head-of-line blocking/ })).toBeVisible();
  await page.getByLabel("Shown part of the run").selectOption("last 2 s");
  const plot = page.getByRole("figure", { name: /^Goodput/ }).locator(".u-over");
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  if (!box) throw new Error("no plot");
  await page.mouse.move(box.x + 50, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + 180, box.y + 40, { steps: 4 });
  await page.mouse.up();
  await page.getByRole("button", { name: "Reset zoom" }).click();
  await page.locator(".arrow").first().click();
  await expect(page.getByRole("heading", { name: /MP_CAPABLE/ }).first()).toBeVisible();
  // One arrow is a tab stop; the arrow keys move on from there.
  await page.locator(".arrow").first().focus();
  await page.keyboard.press("ArrowDown");
  await expect(page.locator(".arrow").nth(1)).toBeFocused();
  await expect(page.locator('.arrow[tabindex="0"]')).toHaveCount(1);
});

test("tooltip explains a link", async ({ page }) => {
  await open(page, "#scene=two-links");
  await page.getByRole("button", { name: /^Link lte/ }).hover();
  await expect(page.getByRole("tooltip")).toContainText("packets in the queue");
  await page.getByRole("button", { name: "host client" }).focus();
  await expect(page.getByRole("tooltip")).toContainText("Receives download");
  await expect(page.getByRole("button", { name: "host client" })).toHaveAccessibleDescription(/Receives download/);
});

test("gallery loads scenes", async ({ page }) => {
  await open(page);
  await page.getByRole("button", { name: "Scenes" }).click();
  await page.getByLabel("Search").fill("bufferbloat");
  await page.getByRole("button", { name: /^Bufferbloat/ }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Bufferbloat");
  expect(page.url()).toContain("#scene=bufferbloat");
});

test("a simulator that crashes is replaced, and the run is back at its start", async ({ page }) => {
  await page.addInitScript(() => {
    const all: Worker[] = [];
    Object.assign(window, { workers: all });
    const Real = window.Worker;
    window.Worker = class extends Real {
      constructor(...values: ConstructorParameters<typeof Worker>) {
        super(...values);
        all.push(this);
      }
    };
  });
  await open(page);
  await runTo(page, 0.5);
  await page.evaluate(() => {
    const [worker] = (window as unknown as { workers: Worker[] }).workers;
    worker?.onerror?.(new ErrorEvent("error", { message: "unreachable" }));
  });
  await expect(page.getByRole("alert").first()).toContainText("back at its start");
  await expect.poll(() => seconds(page)).toBe(0);
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await runTo(page, 0.5);
});
