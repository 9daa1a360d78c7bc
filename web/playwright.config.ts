// Tests of the built page in Chromium: `npm run build && npm run test:page`.
import { defineConfig } from "@playwright/test";

// Each run has its own server, so that two checkouts can be tested at once. Workers inherit the variable.
process.env.PAGE_PORT ??= String(20_000 + (process.pid % 20_000));
const PORT = Number(process.env.PAGE_PORT);

export default defineConfig({
  testDir: "tests",
  timeout: 60_000,
  // One at a time in CI: simulations at full speed take a core each. A step that took too long there gets a second try.
  workers: process.env.CI ? 1 : 2,
  retries: process.env.CI ? 1 : 0,
  fullyParallel: true,
  reporter: [["list"]],
  use: {
    baseURL: `http://127.0.0.1:${PORT}/`,
    viewport: { width: 1440, height: 900 },
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox"],
    },
  },
  webServer: {
    command: `npx vite preview --host 127.0.0.1 --port ${PORT} --strictPort`,
    url: `http://127.0.0.1:${PORT}/`,
    reuseExistingServer: false,
  },
});
