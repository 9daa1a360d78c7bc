// All lessons, in the order of teaching.
import { fairness } from "./fairness";
import { handoff } from "./handoff";
import { slower } from "./slower";
import type { Lesson } from "./types";

export const LESSONS: Lesson[] = [handoff, slower, fairness];

export function lessonOf(id: string): Lesson | undefined {
  return LESSONS.find((lesson) => lesson.id === id);
}
