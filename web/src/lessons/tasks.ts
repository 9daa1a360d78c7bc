// Tasks that several lessons use.
import type { PanelId } from "../plots/view.svelte";
import type { Task } from "./types";

export function runUntil(seconds: number): Task {
  return {
    text: `Press Play and let the run reach ${seconds} s.`,
    done: (progress) => progress.time >= seconds - 1e-6 || progress.finished,
  };
}

export function unplug(link: string): Task {
  return { text: `Select the link ${link} in the picture, and press Unplug.`, done: (progress) => !progress.isUp(link) };
}

export function plugIn(link: string): Task {
  return { text: `Select the link ${link}, and press Plug in.`, done: (progress) => progress.isUp(link) };
}

export function openPanel(id: PanelId, name: string): Task {
  return { text: `Open the plot ${name}.`, done: (progress) => progress.panels.includes(id) };
}
