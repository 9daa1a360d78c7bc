// Keys that work anywhere on the page, except where the reader types.
import type { Session } from "./session/session.svelte";
import { positionOf, speedAt, STEPS } from "./time/speed";

/** Keys, their effects, and the capability of the source that they need. */
export const KEYS: { keys: string; effect: string; needs?: "speed" | "seek" | "edit" }[] = [
  { keys: "Space", effect: "Play or pause; on a button with the focus, Space presses this button", needs: "speed" },
  { keys: ".", effect: "Process one event of the simulator", needs: "speed" },
  { keys: "Left arrow", effect: "Back by 1 s", needs: "seek" },
  { keys: "Right arrow", effect: "Forward by 1 s", needs: "seek" },
  { keys: "Home", effect: "To the start", needs: "seek" },
  { keys: "+ or -", effect: "Faster or slower", needs: "speed" },
  { keys: "Tab", effect: "To the next control; links and nodes of the picture too" },
  { keys: "Enter", effect: "On a link: open its panel" },
  { keys: "Ctrl-Enter", effect: "In the editor: apply the scenario", needs: "edit" },
  { keys: "?", effect: "This help" },
];

/** Whether the element uses keys for itself. */
function isBusy(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest(".cm-editor, dialog")) return true;
  const name = target.tagName;
  if (name === "TEXTAREA" || name === "SELECT") return true;
  if (name === "INPUT") {
    const type = (target as HTMLInputElement).type;
    return type !== "range" || key !== " ";
  }
  // Buttons and summaries react to Space; the play button does what the shortcut does.
  return key === " " && (name === "BUTTON" || name === "SUMMARY");
}

/** Performs the shortcut of a key. Returns whether there was one. */
export function shortcut(event: KeyboardEvent, session: Session, help: () => void): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || isBusy(event.target, event.key)) return false;
  const { can } = session.source;
  const faster = (steps: number) => {
    const position = Math.min(STEPS, Math.max(0, positionOf(session.speed) + steps));
    session.setSpeed(speedAt(position));
    return true;
  };
  switch (event.key) {
    case "?":
      help();
      return true;
    case " ":
      if (can.speed) session.togglePlay();
      return can.speed;
    case ".":
      if (can.speed) void session.step();
      return can.speed;
    case "ArrowLeft":
      if (can.seek) void session.seek(session.time - 1);
      return can.seek;
    case "ArrowRight":
      if (can.seek) void session.seek(session.time + 1);
      return can.seek;
    case "Home":
      if (can.seek) void session.seek(0);
      return can.seek;
    case "+":
    case "=":
      return can.speed && faster(5);
    case "-":
      return can.speed && faster(-5);
    default:
      return false;
  }
}
