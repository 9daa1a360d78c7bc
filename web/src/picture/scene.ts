// The inputs of one drawing of the network, and the colours of packets.
import type { Description, DirectionField, Frame } from "../engine/types";
import { DIRECTION_FIELDS, DIRECTION_STRIDE, PACKET_KINDS } from "../engine/types";
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
  /** Whether nothing may fade or pulse, as the reader asked the system. */
  still: boolean;
}

const ACKNOWLEDGEMENT = PACKET_KINDS.indexOf("acknowledgement");
export const FLASH_TIME = 500;
const MOST_FLASHES = 60;

/** The colour of a packet on a link. On an access link of the flow, the link decides; elsewhere the subflow. */
export function hueOfPacket(scene: Scene, link: number, kind: number, flow: number, subflow: number): string {
  const { description, frame, history, hues, colours } = scene;
  const info = description.flows[flow];
  if (!info) return colours.unknown;
  const access = description.links[link]?.name ?? "";
  const bySender = kind !== ACKNOWLEDGEMENT;
  // A receiver in a general topology names its own links, which have no colour; then the number of the sender decides.
  for (const side of [bySender, true]) {
    const path = history.pathOf(flow, side, subflow) ?? NONE;
    const name = description.paths[path];
    if (name === undefined) continue;
    const hue = hues.of(info.name, name);
    if (hue < 0) continue;
    if (info.paths.includes(access) && name.split("#")[0] !== access) break;
    return colourOf(colours, hue);
  }
  const shown = frame.flows[flow]?.subflows[subflow]?.path ?? NONE;
  const name = info.paths.includes(access) ? access : (description.paths[shown] ?? info.paths[0]);
  return colourOf(colours, name === undefined ? -1 : hues.of(info.name, name));
}

const FIELDS = new Map(DIRECTION_FIELDS.map((name, at) => [name, at]));

/** The value of a direction of a link; NaN before the first frame. */
export function valueOf(frame: Frame, link: number, direction: number, field: DirectionField): number {
  return frame.directions[(2 * link + direction) * DIRECTION_STRIDE + (FIELDS.get(field) ?? 0)] ?? Number.NaN;
}

/** The filled part of a queue, 0 to 1. Unlimited queues fill towards 1 and never reach it. */
export function fillOf(frame: Frame, description: Description, link: number, direction: number): number {
  const info = description.links[link]?.[direction === 0 ? "forward" : "backward"];
  const bytes = valueOf(frame, link, direction, "queuedBytes") || 0;
  const frames = valueOf(frame, link, direction, "queuedFrames") || 0;
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
        ["queueDrops", "queue"],
        ["randomLosses", "way"],
      ] as const) {
        const rose = valueOf(frame, link, direction, field) > valueOf(before, link, direction, field);
        if (rose && flashes.length < MOST_FLASHES) flashes.push({ link, direction, place, born: now });
      }
    }
  }
}
