// Real connections: the protocol of `mptcplab page --live`, with a server that the test plays.
import type { WebSocketRoute } from "@playwright/test";
import { expect, test } from "./page";

const WAY = { rate: 8e6, delay: 0.01, loss: 0, queueFrames: 100, queueBytes: null, discipline: null };
const NONE = { time: [], host: [], flow: [], path: [], subflow: [], other: [], kind: [], what: [], numbers: [[], [], []], words: [] };

const LOADED = {
  toml: "",
  description: {
    name: "iperf", description: "Two real links.", duration: 60, sample: 0.1, warmup: 0,
    nodes: [{ name: "client", kind: "host" }, { name: "server", kind: "host" }],
    links: ["wifi", "lte"].map((name) => ({
      name, kind: "link", ends: ["client", "server"], cell: null, recorded: false, distance: null, forward: WAY, backward: WAY,
    })),
    flows: [{
      name: "iperf", transport: "mptcp", from: "client", to: "server", sender: "client", paths: ["wifi", "lte"],
      scheduler: "", congestion: "", start: 0, stop: null,
    }],
    middleboxes: [], cells: [], paths: ["wifi", "lte"], hosts: ["client", "server"],
    metrics: [{ name: "goodput", unit: "bit/s" }],
  },
};

function frame(time: number, up: number): object {
  const way = [1514, null, 8e6, 0.01, 0, up, 0, 0, 1e6];
  return {
    type: "frame", time, finished: false, speed: 1, directions: [...way, ...way, ...way, ...way], packets: [],
    flows: [{
      written: 2e6, received: 1e6, sendQueue: 1e5, peerWindow: 3e5, outOfOrder: 0, receiveBuffer: 0, finished: false,
      multipath: true, fellBack: null,
      subflows: [{ path: 0, cwnd: 3e4, ssthresh: null, inFlight: 2e4, srtt: 0.03, minRtt: null, backup: false, limit: null }],
    }],
    samples: { time: [time], flow: [0], path: [2], metric: [0], value: [null] },
    events: NONE, restarted: time === 1, reasons: [[]],
  };
}

test("live connections are shown, and their links change", async ({ page }) => {
  const acts: unknown[] = [];
  let address = "";
  await page.routeWebSocket(/\/live/, (socket: WebSocketRoute) => {
    address = socket.url();
    socket.onMessage((text) => {
      const message = JSON.parse(String(text)) as { id: number; action: { set: { up: boolean } } };
      acts.push(message);
      if (message.action.set.up === false) {
        socket.send(JSON.stringify({ type: "done", id: message.id }));
        socket.send(JSON.stringify(frame(2, 0)));
      } else {
        const problem = { message: "link wifi: it is recorded", line: null, column: null };
        socket.send(JSON.stringify({ type: "refused", id: message.id, problem }));
      }
    });
    socket.send(JSON.stringify({ type: "loaded", loaded: LOADED }));
    socket.send(JSON.stringify(frame(1, 1)));
  });
  await page.goto("./?token=secret#live");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("real connections");
  await expect(page.getByTestId("clock")).toHaveText("1.000 s");
  expect(address).toContain("/live?token=secret");
  for (const hidden of ["Scenes", "Lessons", "Play"]) await expect(page.getByRole("button", { name: hidden, exact: true })).toHaveCount(0);
  await expect(page.getByRole("tab", { name: "Scenario" })).toHaveCount(0);
  await page.getByRole("button", { name: /^Link wifi/ }).click();
  await page.getByTestId("plug").click();
  await expect(page.getByRole("button", { name: /^Link wifi.*down/ })).toBeVisible();
  await page.getByTestId("plug").click();
  await expect(page.getByRole("alert")).toContainText("it is recorded");
  expect(acts).toHaveLength(2);
});

test("a transfer shows only what its devices can do", async ({ page }) => {
  await page.routeWebSocket(/\/live/, (socket) => {
    const way = { ...WAY, rate: null, queueFrames: null };
    const links = LOADED.description.links.map((link) => ({ ...link, forward: way, backward: way }));
    socket.send(JSON.stringify({ type: "loaded", loaded: { toml: "", description: { ...LOADED.description, links } } }));
    const direction = [0, 0, null, null, null, 1, 0, 0, 1e6];
    socket.send(JSON.stringify({ ...frame(1, 1), directions: [...direction, ...direction, ...direction, ...direction] }));
  });
  await page.goto("./?token=secret#live");
  await expect(page.getByTestId("reasons")).toContainText("1 subflow");
  await expect(page.getByTestId("reasons")).not.toContainText("1 subflows");
  await page.getByRole("button", { name: /^Link wifi/ }).click();
  const panel = page.getByTestId("link-panel");
  await expect(panel.getByTestId("plug")).toBeVisible();
  await expect(panel.getByRole("slider")).toHaveCount(0);
  await expect(panel.getByRole("radio")).toHaveCount(0);
  await page.getByRole("button", { name: "Share" }).click();
  await expect(page.getByRole("button", { name: "Plots (PNG)" })).toBeVisible();
  for (const hidden of ["Scenario (TOML)", "Copy link"]) await expect(page.getByRole("button", { name: hidden })).toHaveCount(0);
  await expect(page.getByRole("dialog", { name: "Share" })).not.toContainText("mptcplab run");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Help" }).click();
  await expect(page.getByRole("dialog", { name: "Help" })).not.toContainText("simulator");
});

test("a lost connection is reported", async ({ page }) => {
  await page.routeWebSocket(/\/live/, (socket) => {
    socket.send(JSON.stringify({ type: "loaded", loaded: LOADED }));
    setTimeout(() => void socket.close(), 300);
  });
  await page.goto("./?token=secret#live");
  await expect(page.getByRole("alert")).toContainText("connection to mptcplab was lost");
});

test("the end of a run is no failure", async ({ page }) => {
  await page.routeWebSocket(/\/live/, (socket) => {
    socket.send(JSON.stringify({ type: "loaded", loaded: LOADED }));
    socket.send(JSON.stringify({ ...frame(1, 1), finished: true, speed: 0 }));
    setTimeout(() => void socket.close({ code: 1000 }), 100);
  });
  await page.goto("./?token=secret#live");
  await expect(page.getByText("The run has ended.")).toBeAttached();
  await page.waitForTimeout(300);
  await expect(page.getByRole("alert")).toHaveCount(0);
});
