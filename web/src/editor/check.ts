// The syntax of a TOML text, checked while the reader types. Keys and values are checked by the simulator on Apply.
import type { Problem } from "../engine/types";

const KEY = /(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)(?:[ \t]*\.[ \t]*(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+))*/y;
const NUMBER = /^[+-]?(?:0x[\da-f_]+|0o[0-7_]+|0b[01_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:e[+-]?\d[\d_]*)?|inf|nan)$/i;
const DATE = /^\d{4}-\d\d-\d\d|^\d\d:\d\d/;

class SyntaxProblem extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
  }
}

class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  document(): void {
    for (;;) {
      this.space(true);
      if (this.at >= this.text.length) return;
      if (this.text[this.at] === "[") this.header();
      else this.pair();
      this.space(false);
      if (this.at < this.text.length && this.text[this.at] !== "\n") this.fail("there is text after the end of the value or header");
    }
  }

  private header(): void {
    const start = this.at;
    const marks = this.text.startsWith("[[", this.at) ? 2 : 1;
    this.at += marks;
    this.space(false);
    this.key("the name of a table");
    this.space(false);
    if (!this.text.startsWith("]".repeat(marks), this.at)) this.fail(`${"]".repeat(marks)} is missing`, start);
    this.at += marks;
  }

  private pair(): void {
    const start = this.at;
    this.key("a key");
    this.space(false);
    if (this.text[this.at] !== "=") this.fail(`= is missing after ${this.text.slice(start, this.at).trim()}`, start);
    this.at += 1;
    this.space(false);
    this.value();
  }

  private key(wanted: string): void {
    KEY.lastIndex = this.at;
    const found = KEY.exec(this.text);
    if (!found) return this.fail(`${wanted} is expected here`);
    this.at = KEY.lastIndex;
  }

  private value(): void {
    const start = this.at;
    const first = this.text[this.at] ?? "\n";
    if (first === '"' || first === "'") return this.quoted(first);
    if (first === "[") return this.list("]", () => this.value());
    if (first === "{") return this.list("}", () => this.pair());
    const word = /^[^\s,\]}#]*/.exec(this.text.slice(this.at))?.[0] ?? "";
    if (word === "") this.fail("a value is missing");
    if (word !== "true" && word !== "false" && !NUMBER.test(word) && !DATE.test(word)) {
      this.fail(`${word} needs quotes: "${word.replace(/["']/g, "")}"`, start);
    }
    this.at += word.length;
  }

  private quoted(quote: string): void {
    const start = this.at;
    const long = quote.repeat(3);
    const [end, several] = this.text.startsWith(long, this.at) ? [long, true] : [quote, false];
    this.at += end.length;
    while (!this.text.startsWith(end, this.at)) {
      const letter = this.text[this.at];
      if (letter === undefined || (letter === "\n" && !several)) this.fail("the closing quote is missing", start);
      this.at += letter === "\\" && quote === '"' ? 2 : 1;
    }
    this.at += end.length;
  }

  private list(end: string, item: () => void): void {
    const start = this.at;
    this.at += 1;
    for (;;) {
      this.space(true);
      if (this.text[this.at] === end) break;
      if (this.at >= this.text.length) this.fail(`${end} is missing`, start);
      item();
      this.space(true);
      if (this.text[this.at] === ",") this.at += 1;
      else if (this.text[this.at] !== end) this.fail(`${end} or a comma is missing`, start);
    }
    this.at += 1;
  }

  /** Skips blanks and a comment, and also line ends if wanted. */
  private space(lines: boolean): void {
    const blank = lines ? /(?:\s|#[^\n]*)*/y : /[ \t\r]*(?:#[^\n]*)?/y;
    blank.lastIndex = this.at;
    blank.exec(this.text);
    this.at = blank.lastIndex;
  }

  private fail(message: string, at = this.at): never {
    throw new SyntaxProblem(message, at);
  }
}

/** The first error in the syntax of a text, or null. */
export function syntaxProblem(text: string): Problem | null {
  try {
    new Reader(text).document();
    return null;
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    const before = text.slice(0, error.at).split("\n");
    return { message: error.message, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  }
}
