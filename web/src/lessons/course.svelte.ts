// The state of a running lesson: its step, ticked tasks and answers.
import { sceneOf } from "../gallery";
import { valueOf } from "../picture/scene";
import type { Frame } from "../engine/types";
import type { PlotView } from "../plots/view.svelte";
import { LOADING, type Session } from "../session/session.svelte";
import type { Lesson, Progress, SideTab, Step } from "./types";

export class Course {
  at = $state(0);
  /** Tasks of the present step that were done at some moment. */
  ticked = $state.raw<boolean[]>([]);
  /** By step, the choice of the reader. */
  answers = $state.raw<Record<number, number>>({});
  private actionsBefore = $state(0);
  /** Whether the page still shows the run before the present step. */
  private stale = false;
  private frameBefore: Frame | null = null;
  private readonly speedBefore: number;
  readonly step: Step = $derived.by(() => this.lesson.steps[this.at] ?? { title: "", text: [] });
  readonly last = $derived.by(() => this.at === this.lesson.steps.length - 1);
  readonly answer = $derived(this.answers[this.at]);
  /** Whether all tasks are done, and the question has its right answer. */
  readonly complete = $derived.by(() => {
    const { tasks = [], question } = this.step;
    const answered = !question || question.choices[this.answer ?? -1]?.right === true;
    return answered && tasks.every((_, task) => this.ticked[task] === true);
  });

  constructor(
    readonly lesson: Lesson,
    private readonly session: Session,
    private readonly view: PlotView,
    private readonly setTab: (tab: SideTab) => void,
  ) {
    this.speedBefore = session.speed;
  }

  /** Ends the lesson: the speed of its steps must not apply to later scenes. */
  leave(): void {
    this.session.setSpeed(this.speedBefore);
    this.view.span = null;
  }

  async enter(at: number): Promise<void> {
    const left = this.at;
    this.at = Math.min(Math.max(0, at), this.lesson.steps.length - 1);
    this.ticked = [];
    const { setup } = this.step;
    // The reader reads the step first, and the run must not end meanwhile.
    this.session.pause();
    if (setup?.panels) this.view.open = setup.panels;
    if (setup?.panels) this.view.zoom = null;
    if (setup?.span !== undefined) this.view.span = setup.span;
    else if (setup?.scene) this.view.span = null;
    if (setup?.tab) this.setTab(setup.tab);
    if (setup?.speed) this.session.setSpeed(setup.speed);
    const id = setup?.scene ?? this.sceneBefore(left);
    const scene = id ? sceneOf(id) : undefined;
    this.actionsBefore = scene ? 0 : this.session.done.length;
    this.stale = scene !== undefined;
    if (scene) await this.session.load(scene.toml, 1);
    this.frameBefore = this.session.frame;
    this.session.announcer.say(`Step ${this.at + 1}: ${this.step.title}`);
  }

  /** On the way back from a step with a later scene: the nearest earlier one. */
  private sceneBefore(left: number): string | undefined {
    const sceneIn = (from: number, to: number) =>
      this.lesson.steps.slice(from, to).findLast((step) => step.setup?.scene)?.setup?.scene;
    return sceneIn(this.at + 1, left + 1) ? sceneIn(0, this.at + 1) : undefined;
  }

  choose(choice: number): void {
    this.answers = { ...this.answers, [this.at]: choice };
  }

  /** Ticks the tasks that the present state of the page fulfils. A task counts only after the tasks before it. */
  check(): void {
    const tasks = this.step.tasks ?? [];
    if (tasks.length === 0 || this.isStale()) return;
    const progress = this.progress();
    const next: boolean[] = [];
    for (const [index, task] of tasks.entries()) {
      next.push(this.ticked[index] === true || (next.every(Boolean) && task.done(progress)));
    }
    if (next.some((done, index) => done !== (this.ticked[index] ?? false))) {
      this.ticked = next;
      if (next.every(Boolean)) this.session.announcer.say("Task done.");
    }
  }

  /** A scenario is loaded before its first frame arrives; until then, the frame is that of the earlier run. */
  private isStale(): boolean {
    const { busy, frame } = this.session;
    if (busy === LOADING) return true;
    if (this.stale && frame) this.stale = frame.time > 0 && (!frame.restarted || frame === this.frameBefore);
    return this.stale;
  }

  private progress(): Progress {
    const { session, view } = this;
    return {
      time: session.time,
      finished: session.finished,
      actions: session.done.slice(this.actionsBefore),
      panels: view.open,
      isUp: (link) => {
        const index = session.description.links.findIndex((other) => other.name === link);
        return index < 0 || session.frame === null || valueOf(session.frame, index, 0, "up") !== 0;
      },
    };
  }
}
