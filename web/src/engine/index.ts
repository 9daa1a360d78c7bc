// Chooses the source of the page: real connections if the page was opened with `#live`, else the simulator.
import { createLive } from "./live";
import type { Source } from "./types";

export function isLive(): boolean {
  return /^#live(&|$)/.test(location.hash);
}

export async function createSource(): Promise<Source> {
  if (isLive()) return createLive(location);
  if (import.meta.env.DEV) return (await import("../dev/mock")).createMock();
  throw new Error("the simulator is not part of this build");
}
