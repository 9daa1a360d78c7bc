// The dark or light appearance: follows the system until the reader chooses.
import { DARK, LIGHT, type Colours } from "./palette";

type Choice = "system" | "light" | "dark";
const KEY = "mptcplab-theme";

function stored(): Choice {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}

class Theme {
  choice = $state<Choice>(stored());
  private system = $state(matchMedia("(prefers-color-scheme: dark)").matches);
  readonly dark = $derived(this.choice === "dark" || (this.choice === "system" && this.system));
  readonly colours: Colours = $derived(this.dark ? DARK : LIGHT);

  constructor() {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
      this.system = event.matches;
    });
  }

  toggle(): void {
    this.choice = this.dark ? "light" : "dark";
    try {
      localStorage.setItem(KEY, this.choice);
    } catch {
      // Pages opened as files may have no storage; the choice then lasts until the page closes.
    }
  }
}

export const theme = new Theme();

const motion = matchMedia("(prefers-reduced-motion: reduce)");

export function reducedMotion(): boolean {
  return motion.matches;
}
