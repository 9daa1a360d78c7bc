// Messages for screen readers, at most one per second so that they stay audible.

const PAUSE = 1000;
/** Time of an empty text between equal ones, ms. */
const GAP = 100;

export class Announcer {
  text = $state("");
  private readonly waiting: string[] = [];
  private timer: ReturnType<typeof setTimeout> | null = null;

  say(text: string): void {
    if (this.waiting.includes(text)) return;
    // Old messages are worth less than new ones.
    if (this.waiting.length >= 3) this.waiting.shift();
    this.waiting.push(text);
    if (this.timer === null) this.next();
  }

  private next(): void {
    const text = this.waiting.shift();
    if (text === undefined) {
      this.timer = null;
      return;
    }
    // A live region reports changes only.
    if (text === this.text) {
      this.text = "";
      setTimeout(() => (this.text = text), GAP);
    } else {
      this.text = text;
    }
    this.timer = setTimeout(() => this.next(), PAUSE);
  }
}
