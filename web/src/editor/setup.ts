// The CodeMirror editor: TOML colours, completion, hover help, and marks for errors.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Knowledge, Problem } from "../engine/types";
import { completionSource, hoverHelp } from "./completion";

const highlighting = HighlightStyle.define([
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--good)" },
  { tag: tags.number, color: "var(--accent)" },
  { tag: [tags.atom, tags.bool], color: "var(--accent)" },
  { tag: [tags.propertyName, tags.variableName], color: "var(--ink)" },
  { tag: tags.bracket, color: "var(--muted)" },
]);

const look = EditorView.theme({
  "&": { fontSize: "13px", color: "var(--ink)", backgroundColor: "var(--panel)" },
  ".cm-scroller": { fontFamily: 'ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace', lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)" },
  "&.cm-focused": { outline: "2px solid var(--accent)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--muted)", borderRight: "1px solid var(--border)" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 9%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent) !important",
  },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", border: "1px solid var(--border)", color: "var(--ink)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionInfo": { maxWidth: "300px" },
  ".cm-help": { maxWidth: "340px", padding: "6px 10px", fontSize: "13px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--alarm)" },
});

export function createEditor(
  parent: HTMLElement,
  text: string,
  knowledge: Knowledge,
  on: { change: (text: string) => void; apply: () => void },
): EditorView {
  const extensions: Extension[] = [
    lineNumbers(),
    lintGutter(),
    history(),
    closeBrackets(),
    highlightActiveLine(),
    StreamLanguage.define(toml),
    syntaxHighlighting(highlighting),
    autocompletion({ override: [completionSource(knowledge)], icons: false }),
    hoverHelp(knowledge),
    look,
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": "Scenario in TOML", tabindex: "0" }),
    keymap.of([
      {
        key: "Ctrl-Enter",
        mac: "Cmd-Enter",
        run: () => {
          on.apply();
          return true;
        },
      },
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) on.change(update.state.doc.toString());
    }),
  ];
  return new EditorView({ parent, state: EditorState.create({ doc: text, extensions }) });
}

export function replaceText(view: EditorView, text: string): void {
  if (view.state.doc.toString() === text) return;
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}

/** Marks the place of a problem, or its first line if only the line is known. */
export function showProblem(view: EditorView, problem: Problem | null, scrolls = true): void {
  const { doc } = view.state;
  const diagnostics: Diagnostic[] = [];
  if (problem && problem.line !== null) {
    const line = doc.line(Math.min(Math.max(1, problem.line), doc.lines));
    const column = Math.max(0, Math.min((problem.column ?? 1) - 1, line.length));
    const rest = /^[^\s#]+(?:\s*=\s*("[^"]*"|[^#]*[^\s#]))?/.exec(line.text.slice(column));
    const from = problem.column === null ? line.from + line.text.search(/\S|$/) : line.from + column;
    const to = problem.column === null ? line.to : Math.min(line.to, from + Math.max(1, rest?.[0].length ?? 1));
    diagnostics.push({ from, to: Math.max(from, to), severity: "error", message: problem.message });
  }
  view.dispatch(setDiagnostics(view.state, diagnostics));
  const first = diagnostics[0];
  if (first && scrolls) view.dispatch({ effects: EditorView.scrollIntoView(first.from, { y: "center" }) });
}
