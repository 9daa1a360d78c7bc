// Draws the network on a canvas: the medium of cells, links with queues and packets, and losses.
import { PACKET_STRIDE } from "../engine/types";
import { colourOf } from "../ui/palette";
import { drawNodes } from "./nodes";
import { pointOn, type LinkLine, type Point } from "./layout";
import { FLASH_TIME, fillOf, hueOfPacket, valueOf, type Scene } from "./scene";

const TURN = 2 * Math.PI;
/** Distance of the lane of a direction from the middle of its link, px. */
const LANE = 4.5;
const QUEUE = { length: 54, width: 9, start: 8, offset: 15 };

export function draw(context: CanvasRenderingContext2D, scene: Scene): void {
  drawCells(context, scene);
  scene.layout.links.forEach((line, link) => drawLink(context, scene, line, link));
  drawPackets(context, scene);
  drawFlashes(context, scene);
  drawNodes(context, scene);
}

function drawCells(context: CanvasRenderingContext2D, scene: Scene): void {
  for (const cell of scene.layout.cells) {
    context.beginPath();
    context.ellipse(cell.x, cell.y, cell.rx, cell.ry, 0, 0, TURN);
    context.globalAlpha = 0.1;
    context.fillStyle = scene.colours.accent;
    context.fill();
    context.globalAlpha = 0.35;
    context.strokeStyle = scene.colours.accent;
    context.setLineDash([2, 5]);
    context.lineWidth = 1;
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }
}

function trace(context: CanvasRenderingContext2D, from: Point, to: Point): void {
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.lineTo(to.x, to.y);
}

function drawLink(context: CanvasRenderingContext2D, scene: Scene, line: LinkLine, link: number): void {
  const { colours, frame, layout } = scene;
  const info = scene.description.links[link];
  const up = [0, 1].map((direction) => valueOf(frame, link, direction, "up") !== 0);
  const chosen = scene.selected === line.name || scene.hovered === line.name;
  const hue = colourOf(colours, scene.hues.link(line.name));
  context.lineCap = "butt";
  if (chosen) {
    trace(context, line.from, line.to);
    context.strokeStyle = colours.accent;
    context.lineWidth = layout.dense ? 6 : 24;
    context.globalAlpha = 0.22;
    context.stroke();
    context.globalAlpha = 1;
  }
  if (layout.dense) {
    const load = Math.max(fillOf(frame, scene.description, link, 0), fillOf(frame, scene.description, link, 1));
    trace(context, line.from, line.to);
    context.strokeStyle = up[0] && up[1] ? colours.line : colours.alarm;
    context.lineWidth = 1 + 4 * load;
    context.setLineDash(up[0] && up[1] ? [] : [4, 4]);
    context.stroke();
    context.setLineDash([]);
    return;
  }
  for (const direction of [0, 1]) {
    const offset = direction === 0 ? LANE : -LANE;
    const isUp = up[direction];
    context.strokeStyle = isUp ? (hue === colours.unknown ? colours.line : hue) : colours.alarm;
    context.globalAlpha = isUp ? 0.45 : 0.9;
    context.lineWidth = 1.5;
    if (info?.kind === "station") context.setLineDash([7, 5]);
    if (isUp) {
      trace(context, pointOn(line, 0, offset), pointOn(line, 1, offset));
      context.stroke();
    } else {
      trace(context, pointOn(line, 0, offset), pointOn(line, 0.42, offset));
      context.stroke();
      trace(context, pointOn(line, 0.58, offset), pointOn(line, 1, offset));
      context.stroke();
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
    drawQueue(context, scene, line, link, direction);
  }
  if (!up[0] || !up[1]) drawCut(context, line, colours.alarm);
}

function drawCut(context: CanvasRenderingContext2D, line: LinkLine, colour: string): void {
  const { x, y } = pointOn(line, 0.5, 0);
  context.strokeStyle = colour;
  context.lineWidth = 3;
  trace(context, { x: x - 8, y: y - 8 }, { x: x + 8, y: y + 8 });
  context.stroke();
  trace(context, { x: x - 8, y: y + 8 }, { x: x + 8, y: y - 8 });
  context.stroke();
}

/** The frame of a queue, in px along its line from the sending end. */
export function queueSpan(line: LinkLine): { start: number; length: number } {
  return { start: QUEUE.start, length: Math.min(QUEUE.length, line.length * 0.24) };
}

/** The place of the queue of a direction: shares of its line from the sending end on, and its distance and width in px. */
export function queueBox(line: LinkLine, direction: number): { from: number; to: number; offset: number; width: number } {
  const { start, length } = queueSpan(line);
  const [near, far] = [start / line.length, (start + length) / line.length];
  const [from, to] = direction === 0 ? [near, far] : [1 - near, 1 - far];
  return { from, to, offset: direction === 0 ? QUEUE.offset : -QUEUE.offset, width: QUEUE.width };
}

function drawQueue(
  context: CanvasRenderingContext2D,
  scene: Scene,
  line: LinkLine,
  link: number,
  direction: number,
): void {
  const { colours, frame } = scene;
  const { length } = queueSpan(line);
  const { from, offset } = queueBox(line, direction);
  const origin = pointOn(line, from, offset);
  const fill = fillOf(frame, scene.description, link, direction);
  const angle = Math.atan2(line.to.y - line.from.y, line.to.x - line.from.x) + (direction === 0 ? 0 : Math.PI);
  context.save();
  context.translate(origin.x, origin.y);
  context.rotate(angle);
  // The exit of the queue is at the right end, towards the link.
  context.fillStyle = colours.panel;
  context.fillRect(0, -QUEUE.width / 2, length, QUEUE.width);
  const hue = colourOf(colours, scene.hues.link(line.name));
  context.fillStyle = hue;
  context.globalAlpha = 0.75;
  context.fillRect(length * (1 - fill), -QUEUE.width / 2, length * fill, QUEUE.width);
  context.globalAlpha = 1;
  context.strokeStyle = fill > 0.97 ? colours.alarm : colours.line;
  context.lineWidth = fill > 0.97 ? 2 : 1;
  context.strokeRect(0, -QUEUE.width / 2, length, QUEUE.width);
  context.restore();
}

/** Packets of several flows in one queue have several colours, which the fill does not show. */
function drawWaiting(
  context: CanvasRenderingContext2D,
  scene: Scene,
  line: LinkLine,
  link: number,
  direction: number,
  place: number,
  colour: string,
): void {
  const info = scene.description.links[link]?.[direction === 0 ? "forward" : "backward"];
  const frames = valueOf(scene.frame, link, direction, "queuedFrames") || 1;
  const fill = fillOf(scene.frame, scene.description, link, direction);
  const { start, length } = queueSpan(line);
  const capacity = info?.queueFrames ?? frames / Math.max(fill, 1e-3);
  const step = length / Math.max(1, capacity);
  const distance = start + length - (-place - 1.5) * step;
  const share = direction === 0 ? distance / line.length : 1 - distance / line.length;
  const half = QUEUE.width / 2 - 0.5;
  const offset = direction === 0 ? QUEUE.offset : -QUEUE.offset;
  context.strokeStyle = colour;
  context.lineWidth = Math.max(1, step * 0.9);
  trace(context, pointOn(line, share, offset - half), pointOn(line, share, offset + half));
  context.stroke();
}

function drawPackets(context: CanvasRenderingContext2D, scene: Scene): void {
  const { packets } = scene.frame;
  const { links, dense } = scene.layout;
  for (let at = 0; at + PACKET_STRIDE <= packets.length; at += PACKET_STRIDE) {
    const link = packets[at] ?? 0;
    const line = links[link];
    if (!line || line.length === 0) continue;
    const direction = packets[at + 1] ?? 0;
    const place = packets[at + 2] ?? 0;
    const kind = packets[at + 3] ?? 0;
    const colour = hueOfPacket(scene, link, kind, packets[at + 4] ?? 0, packets[at + 5] ?? 0);
    if (place <= -2) {
      if (!dense) drawWaiting(context, scene, line, link, direction, place, colour);
      continue;
    }
    const { start, length } = queueSpan(line);
    const first = dense ? 0 : (start + length) / line.length;
    const share = place < 0 ? first : first + (1 - first) * place;
    const offset = direction === 0 ? LANE : -LANE;
    const point = pointOn(line, direction === 0 ? share : 1 - share, dense ? offset / 3 : offset);
    drawPacket(context, point, kind, colour, scene.colours.panel, dense ? 0.55 : 1);
  }
}

/** A shape for each kind: data a disc, acknowledgement a small disc, again a diamond, control a square, datagram a triangle. */
export function drawPacket(
  context: CanvasRenderingContext2D,
  { x, y }: Point,
  kind: number,
  colour: string,
  ground: string,
  scale: number,
): void {
  context.fillStyle = colour;
  context.strokeStyle = ground;
  context.lineWidth = 0.8;
  context.beginPath();
  const radius = 4 * scale;
  if (kind === 1) {
    context.globalAlpha = 0.75;
    context.arc(x, y, 2.1 * scale, 0, TURN);
  } else if (kind === 2) {
    context.moveTo(x, y - 1.6 * radius);
    context.lineTo(x + 1.6 * radius, y);
    context.lineTo(x, y + 1.6 * radius);
    context.lineTo(x - 1.6 * radius, y);
    context.closePath();
  } else if (kind === 3) {
    context.rect(x - radius, y - radius, 2 * radius, 2 * radius);
  } else if (kind === 4) {
    context.moveTo(x, y - 1.2 * radius);
    context.lineTo(x + 1.1 * radius, y + 0.9 * radius);
    context.lineTo(x - 1.1 * radius, y + 0.9 * radius);
    context.closePath();
  } else {
    context.arc(x, y, radius, 0, TURN);
  }
  context.fill();
  if (kind !== 1) context.stroke();
  context.globalAlpha = 1;
}

function drawFlashes(context: CanvasRenderingContext2D, scene: Scene): void {
  for (const flash of scene.flashes) {
    const line = scene.layout.links[flash.link];
    if (!line) continue;
    const age = (scene.now - flash.born) / FLASH_TIME;
    if (age >= 1) continue;
    const share = flash.place === "queue" ? QUEUE.start / line.length : 0.62;
    const offset = flash.place === "queue" ? QUEUE.offset : LANE;
    const { x, y } = pointOn(
      line,
      flash.direction === 0 ? share : 1 - share,
      flash.direction === 0 ? offset : -offset,
    );
    context.strokeStyle = scene.colours.alarm;
    context.globalAlpha = scene.still ? 1 : 1 - age;
    context.lineWidth = 2;
    const size = 5;
    trace(context, { x: x - size, y: y - size }, { x: x + size, y: y + size });
    context.stroke();
    trace(context, { x: x - size, y: y + size }, { x: x + size, y: y - size });
    context.stroke();
    context.globalAlpha = 1;
  }
}
