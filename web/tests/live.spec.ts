// The page during a real transfer: Linux's Multipath TCP sends a file over two emulated links, one is unplugged on the
// page, and the file arrives complete over the other.
//
// Needs root and network namespaces; skipped elsewhere with a reason, except in CI.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "./page";

const MPTCPLAB = new URL("../../.venv/bin/mptcplab", import.meta.url).pathname;
const PYTHON = new URL("../../.venv/bin/python", import.meta.url).pathname;
const BYTES = 12_000_000;

const SCENARIO = `name = "two"
duration = "60s"
[paths.wifi]
rate = "8Mbit"
delay = "20ms"
queue = "100p"
[paths.lte]
rate = "4Mbit"
delay = "30ms"
queue = "100p"
[flows.bulk]
`;

// 262 is IPPROTO_MPTCP.
const RECEIVE = `import hashlib, socket
with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as own:
    own.bind(("0.0.0.0", 5001))
    own.listen()
    with own.accept()[0] as stream:
        digest = hashlib.sha256()
        while data := stream.recv(65536):
            digest.update(data)
        stream.sendall(digest.hexdigest().encode())
`;
const SEND = `import socket
with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as own:
    own.connect(("server", 5001))
    own.sendfile(open("sent", "rb"))
    own.shutdown(socket.SHUT_WR)
    print(own.recv(64, socket.MSG_WAITALL).decode())
`;

function missing(): string | null {
  if (process.getuid?.() !== 0) return "namespaces need root";
  if (!existsSync("/dev/net/tun")) return "there is no /dev/net/tun";
  if (!existsSync("/proc/sys/net/mptcp/enabled")) return "the kernel has no Multipath TCP";
  return existsSync(MPTCPLAB) ? null : "mptcplab is not installed: make build";
}

/** The first match in what a process prints. */
function printed(process: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const hear = (data: Buffer) => {
      text += data.toString();
      const found = pattern.exec(text);
      if (found) resolve(found[0]);
    };
    process.stdout?.on("data", hear);
    process.stderr?.on("data", hear);
    process.on("exit", (code) => reject(new Error(`exit code ${code}: ${text}`)));
  });
}

test("a real transfer continues when a path is unplugged on the page", async ({ page }) => {
  const reason = missing();
  if (process.env.CI && reason) throw new Error(reason);
  test.skip(reason !== null, reason ?? "");
  test.setTimeout(90_000);
  const folder = mkdtempSync(join(tmpdir(), "page-live-"));
  const data = randomBytes(BYTES);
  writeFileSync(join(folder, "sent"), data);
  writeFileSync(join(folder, "two.toml"), SCENARIO);
  writeFileSync(join(folder, "receive.py"), RECEIVE);
  writeFileSync(join(folder, "send.py"), SEND);
  const live = ["page", "--no-browser", "--live", "emulate", "two.toml", "--quiet"];
  const peer = ["--peer", `${PYTHON} receive.py`, "--", PYTHON, "send.py"];
  const running = spawn(MPTCPLAB, [...live, ...peer], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  try {
    const digest = printed(running, /\b[0-9a-f]{64}\b/);
    const ended = new Promise<number | null>((resolve) => running.on("exit", resolve));
    await page.goto(await printed(running, /http:\/\/127\.0\.0\.1:\d+\/\S+/));
    await expect(page.getByRole("button", { name: /^Link lte/ })).toBeVisible();
    const card = page.getByTestId("reasons").locator("article").first();
    await expect(card).toContainText("2 subflows", { timeout: 20_000 });
    await page.getByRole("button", { name: /^Link wifi/ }).click();
    await page.getByTestId("plug").click();
    await expect(page.getByTestId("plug")).toHaveText("Plug in");
    await expect(card).toContainText("1 subflow", { timeout: 20_000 });
    expect(await digest).toBe(createHash("sha256").update(data).digest("hex"));
    expect(await ended).toBe(0);
  } finally {
    running.kill("SIGINT");
  }
});
