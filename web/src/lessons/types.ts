// The form of guided lessons.
import type { Action } from "../engine/types";
import type { PanelId } from "../plots/view.svelte";

export type SideTab = "why" | "link" | "scenario";

/** The part of the page that tasks observe; actions are those since the present step began. */
export interface Progress {
  time: number;
  finished: boolean;
  actions: readonly Action[];
  panels: readonly PanelId[];
  /** Whether a link is up now. */
  isUp: (link: string) => boolean;
}

export interface Task {
  text: string;
  done: (progress: Progress) => boolean;
}

export interface Choice {
  text: string;
  right?: true;
  feedback: string;
}

export interface Question {
  text: string;
  choices: Choice[];
}

/** The state of the page at the start of a step; missing parts stay as they are. */
export interface Setup {
  /** A scene of the gallery, loaded at time 0. */
  scene?: string;
  speed?: number;
  panels?: PanelId[];
  /** Seconds that the plots show; null for the whole run. */
  span?: number | null;
  tab?: SideTab;
}

export interface Step {
  title: string;
  /** Paragraphs; `**word**` is bold, and backticks mark code. */
  text: string[];
  /** Results, with the text of the first column as the head of each row. */
  table?: { head: string[]; rows: string[][] };
  setup?: Setup;
  tasks?: Task[];
  question?: Question;
}

export interface Lesson {
  id: string;
  title: string;
  sentence: string;
  steps: Step[];
}
