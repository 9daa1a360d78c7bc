// Explanations of the parts of the picture, for tooltips and screen readers.
import type { Description, Frame } from "../engine/types";
import { rateText, shareText, sizeText, timeText } from "../ui/format";
import { limitName } from "../session/sentences";
import { valueOf } from "./scene";

export function linkLabel(description: Description, frame: Frame | null, link: number): string {
  const info = description.links[link];
  if (!info) return "";
  const now = frame && frame.directions.length > 0;
  const rate = now ? valueOf(frame, link, 0, "rate") : (info.forward.rate ?? Number.NaN);
  const delay = now ? valueOf(frame, link, 0, "delay") : info.forward.delay;
  const loss = now ? valueOf(frame, link, 0, "loss") : info.forward.loss;
  const parts: string[] = [];
  if (Number.isFinite(rate)) parts.push(rateText(rate));
  if (info.kind === "station" && info.distance !== null) parts.push(`${info.distance} m`);
  if (delay > 0) parts.push(timeText(delay));
  if (loss > 0) parts.push(`${shareText(loss)} loss`);
  return parts.join(" · ");
}

export function isDown(frame: Frame | null, link: number): boolean {
  return frame !== null && (valueOf(frame, link, 0, "up") === 0 || valueOf(frame, link, 1, "up") === 0);
}

export function linkWords(description: Description, frame: Frame, link: number): string[] {
  const info = description.links[link];
  if (!info) return [];
  const lines = [`${info.kind === "station" ? "WiFi link" : "Link"} ${info.name}: ${linkLabel(description, frame, link)}`];
  if (isDown(frame, link)) lines.push("The link is down: it drops all packets.");
  for (const direction of [0, 1]) {
    const [first, second] = direction === 0 ? info.ends : [info.ends[1], info.ends[0]];
    const bytes = valueOf(frame, link, direction, "queuedBytes");
    const frames = valueOf(frame, link, direction, "queuedFrames");
    const rate = valueOf(frame, link, direction, "rate");
    const limit = info[direction === 0 ? "forward" : "backward"];
    const most = limit.queueFrames ? ` of ${limit.queueFrames}` : "";
    const wait = Number.isFinite(rate) && rate > 0 ? `, ${timeText((8 * bytes) / rate)} of waiting` : "";
    const drops = valueOf(frame, link, direction, "queueDrops");
    const losses = valueOf(frame, link, direction, "randomLosses");
    lines.push(
      `${first} to ${second}: ${Math.round(frames)}${most} packets in the queue (${sizeText(bytes)}${wait}); ` +
        `${Math.round(drops)} dropped by the queue, ${Math.round(losses)} lost at random.`,
    );
  }
  return lines;
}

export function nodeWords(description: Description, frame: Frame, name: string): string[] {
  const node = description.nodes.find((other) => other.name === name);
  if (!node) return [];
  const lines = [`${node.kind[0]?.toUpperCase()}${node.kind.slice(1)} ${name}`];
  description.flows.forEach((flow, index) => {
    const view = frame.flows[index];
    if (!view || (flow.from !== name && flow.to !== name) || lines.length > 9) return;
    if (flow.sender === name) {
      lines.push(`Sends ${flow.name}: ${sizeText(view.sendQueue)} wait for a DATA_ACK.`);
      for (const subflow of view.subflows) {
        const path = description.paths[subflow.path] ?? "?";
        const rtt = subflow.srtt === null ? "" : `, RTT ${timeText(subflow.srtt)}`;
        const limit = subflow.limit === null ? "" : `; limit: ${limitName(subflow.limit)}`;
        lines.push(`– ${path}: ${sizeText(subflow.inFlight)} in flight, congestion window ${sizeText(subflow.cwnd)}${rtt}${limit}`);
      }
    } else {
      const room = view.receiveBuffer > 0 ? `, receive buffer ${sizeText(view.receiveBuffer)}` : "";
      lines.push(`Receives ${flow.name}: ${sizeText(view.received)} in order, ${sizeText(view.outOfOrder)} out of order${room}.`);
    }
  });
  return lines;
}
