// Draws hosts, routers and access points, with the windows of subflows at the sender and the buffer at the receiver.
import { colourOf } from "../ui/palette";
import { sizeText } from "../ui/format";
import type { NodeBox } from "./layout";
import type { Scene } from "./scene";

const SMALL = '11px system-ui, "Segoe UI", sans-serif';
const BOLD = '600 12.5px system-ui, "Segoe UI", sans-serif';

export function drawNodes(context: CanvasRenderingContext2D, scene: Scene): void {
  for (const box of scene.layout.nodes) {
    drawBox(context, scene, box);
    drawName(context, scene, box);
    if (box.kind === "host" && !scene.layout.dense) {
      drawWindows(context, scene, box);
      drawBuffer(context, scene, box);
    }
  }
}

function drawBox(context: CanvasRenderingContext2D, scene: Scene, box: NodeBox): void {
  const { colours } = scene;
  const chosen = scene.selected === box.name || scene.hovered === box.name;
  context.beginPath();
  const radius = box.kind === "host" ? 8 : Math.min(16, Math.min(box.width, box.height) / 2);
  context.roundRect(box.x - box.width / 2, box.y - box.height / 2, box.width, box.height, radius);
  context.fillStyle = colours.panel;
  context.fill();
  context.strokeStyle = chosen ? colours.accent : colours.line;
  context.lineWidth = chosen ? 2.5 : 1.5;
  context.stroke();
}

/** Whether a box has space for a line of its own for the name. */
function isTall(box: NodeBox): boolean {
  return box.height >= 62;
}

function drawName(context: CanvasRenderingContext2D, scene: Scene, box: NodeBox): void {
  context.font = box.height < 20 || box.width < 50 ? SMALL : BOLD;
  context.fillStyle = scene.colours.ink;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const tall = box.kind === "host" && isTall(box) && !scene.layout.dense;
  const hasGauge = box.kind === "host" && !tall && !scene.layout.dense && box.height >= 36;
  const y = tall ? box.y - box.height / 2 + 14 : hasGauge ? box.y - 8 : box.y;
  context.fillText(fitted(context, box.name, box.width - 8), box.x, y);
  if (box.kind !== "access point" || box.height < 40) return;
  context.font = SMALL;
  context.fillStyle = scene.colours.muted;
  context.fillText(fitted(context, "access point", box.width - 8), box.x, box.y + 15);
}

/** The text, or its beginning if it is too long. */
function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let length = text.length - 1;
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > width) length -= 1;
  return `${text.slice(0, length)}…`;
}

/** A gauge per subflow at the port of its link: data in flight, and the congestion window. */
function drawWindows(context: CanvasRenderingContext2D, scene: Scene, box: NodeBox): void {
  const { description, frame, colours, layout } = scene;
  const used = new Map<number, number>();
  description.flows.forEach((flow, index) => {
    if (flow.sender !== box.name) return;
    for (const subflow of frame.flows[index]?.subflows ?? []) {
      const path = description.paths[subflow.path] ?? "";
      const link = portOf(scene, box, path.split("#")[0] ?? path, flow.paths, flow.from === box.name);
      if (link < 0) continue;
      const line = layout.links[link];
      const info = description.links[link];
      if (!line || !info) continue;
      const port = info.ends[0] === box.name ? line.from : line.to;
      const row = used.get(link) ?? 0;
      if (row > 2) continue;
      used.set(link, row + 1);
      const y = (isTall(box) ? port.y : box.y + 9) + row * 13;
      const hue = colourOf(colours, scene.hues.of(flow.name, path));
      gauge(context, scene, box, y, subflow.inFlight / Math.max(1, subflow.cwnd), hue, sizeText(subflow.cwnd));
    }
  });
}

/** The link of a node over which a path begins or ends; -1 if unknown. */
function portOf(scene: Scene, box: NodeBox, path: string, paths: string[], opens: boolean): number {
  const { links } = scene.description;
  const own = links.findIndex((link) => link.name === path && link.ends.includes(box.name));
  if (own >= 0) return own;
  if (opens) return -1;
  // The other host of a general topology often has one link only.
  const at = links.flatMap((link, index) => (link.ends.includes(box.name) ? [index] : []));
  return at[Math.min(paths.indexOf(path), at.length - 1)] ?? -1;
}

function gauge(
  context: CanvasRenderingContext2D,
  scene: Scene,
  box: NodeBox,
  y: number,
  share: number,
  colour: string,
  text: string,
): void {
  const { colours } = scene;
  const wide = box.width >= 110;
  const width = wide ? 48 : box.width - 20;
  const left = box.x - box.width / 2 + 10;
  context.fillStyle = colours.faint;
  context.fillRect(left, y - 4, width, 8);
  context.fillStyle = colour;
  context.fillRect(left, y - 4, width * Math.min(1, Math.max(0, share)), 8);
  if (!wide) return;
  context.font = SMALL;
  context.fillStyle = colours.muted;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(text, left + width + 6, y + 0.5);
}

/** The receive buffer: data that waits for older data. */
function drawBuffer(context: CanvasRenderingContext2D, scene: Scene, box: NodeBox): void {
  const { description, frame, colours } = scene;
  if (box.height < 110 || box.width < 110) return;
  let row = 0;
  description.flows.forEach((flow, index) => {
    const receiver = flow.sender === flow.from ? flow.to : flow.from;
    const view = frame.flows[index];
    if (receiver !== box.name || !view || flow.transport === "udp" || view.receiveBuffer <= 0 || row > 0) return;
    row += 1;
    const left = box.x - box.width / 2 + 10;
    const width = box.width - 20;
    const y = box.y + box.height / 2 - 16;
    context.fillStyle = colours.faint;
    context.fillRect(left, y - 4, width, 8);
    context.fillStyle = colours.alarm;
    context.fillRect(left, y - 4, width * Math.min(1, view.outOfOrder / view.receiveBuffer), 8);
    context.font = SMALL;
    context.fillStyle = colours.muted;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText("out of order", left, y - 13);
    context.textAlign = "right";
    context.fillText(sizeText(view.outOfOrder), left + width, y - 13);
  });
}
