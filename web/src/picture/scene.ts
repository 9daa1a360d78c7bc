// All that one drawing of the network depends on, and the colours of packets.
import type { Description, Frame } from "../engine/types";
import { DIRECTION_STRIDE } from "../engine/types";
import { NONE, type History } from "../session/history";
import { colourOf, type Colours, type Hues } from "../ui/palette";
import type { Layout } from "./layout";

export interface Flash {
  link: number;
  direction: number;
  /** A full queue drops at its start; random losses happen on the way. */
  place: "queue" | "way";
  born: number;
}

export interface Scene {
  description: Description;
  layout: Layout;
  frame: Frame;
  history: History;
  hues: Hues;
  colours: Colours;
  flashes: Flash[];
  hovered: string | null;
  selected: string | null;
  now: number;
}

export const FLASH_TIME = 500;
const MOST_FLASHES = 60;

export function hueOfSubflow(scene: Scene, flow: number, subflow: number): number {
  const { description, frame, history, hues } = scene;
  const info = description.flows[flow];
  if (!info) return -1;
  const path =
    history.pathOfSubflow.get(flow * 65536 + subflow) ?? frame.flows[flow]?.subflows[subflow]?.path ?? NONE;
  const name = description.paths[path] ?? info.paths[0];
  return name === undefined ? -1 : hues.of(info.name, name);
}

export function hueOfPacket(scene: Scene, flow: number, subflow: number): string {
  return colourOf(scene.colours, flow === NONE ? -1 : hueOfSubflow(scene, flow, subflow));
}

/** The value of a direction of a link; NaN before the first frame. */
export function valueOf(frame: Frame, link: number, direction: number, field: number): number {
  return frame.directions[(2 * link + direction) * DIRECTION_STRIDE + field] ?? Number.NaN;
}

/** The filled part of a queue, 0 to 1. Unlimited queues fill towards 1 and never reach it. */
export function fillOf(frame: Frame, description: Description, link: number, direction: number): number {
  const info = description.links[link]?.[direction === 0 ? "forward" : "backward"];
  const bytes = valueOf(frame, link, direction, 0) || 0;
  const frames = valueOf(frame, link, direction, 1) || 0;
  if (info?.queueFrames) return Math.min(1, frames / info.queueFrames);
  if (info?.queueBytes) return Math.min(1, bytes / info.queueBytes);
  return frames / (frames + 50);
}

/** Adds a flash for each direction whose drops rose since `before`. */
export function addFlashes(flashes: Flash[], before: Frame | null, frame: Frame, now: number): void {
  const alive = flashes.filter((flash) => now - flash.born < FLASH_TIME);
  flashes.length = 0;
  flashes.push(...alive);
  if (!before || frame.restarted || before.directions.length !== frame.directions.length) return;
  const links = frame.directions.length / DIRECTION_STRIDE / 2;
  for (let link = 0; link < links; link += 1) {
    for (const direction of [0, 1]) {
      for (const [field, place] of [
        [6, "queue"],
        [7, "way"],
      ] as const) {
        const rose = valueOf(frame, link, direction, field) > valueOf(before, link, direction, field);
        if (rose && flashes.length < MOST_FLASHES) flashes.push({ link, direction, place, born: now });
      }
    }
  }
}
