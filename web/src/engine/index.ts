// Chooses the source of the page: real connections if the page was opened with `#live`, else the simulator.
import { createLive } from "./live";
import { Simulator } from "./simulator";
import type { Source } from "./types";

export function isLive(): boolean {
  // A page from a folder has no server.
  return location.protocol.startsWith("http") && /^#live(&|$)/.test(location.hash);
}

export function createSource(): Source {
  return isLive() ? createLive(location) : new Simulator();
}
