// The limits of subflows over time, as bands: lanes of intervals with a word each.

export interface Band {
  from: number;
  word: string;
}

const LIMIT = 3000;

export class Bands {
  private readonly lanes = new Map<string, Band[]>();
  version = 0;

  /** The lane's limit is `word` from now on. */
  add(lane: string, time: number, word: string): void {
    let bands = this.lanes.get(lane);
    if (!bands) {
      bands = [];
      this.lanes.set(lane, bands);
    }
    const last = bands[bands.length - 1];
    if (last?.word === word) return;
    if (last && last.from === time) last.word = word;
    else bands.push({ from: time, word });
    if (bands.length > LIMIT) this.lanes.set(lane, thinned(bands));
    this.version += 1;
  }

  lane(name: string): readonly Band[] {
    return this.lanes.get(name) ?? [];
  }

  names(): string[] {
    return [...this.lanes.keys()];
  }

  clear(): void {
    this.lanes.clear();
    this.version += 1;
  }
}

/** About half of the bands: each short band joins the one before it. */
export function thinned(bands: Band[]): Band[] {
  const lengths = bands.slice(0, -1).map((band, at) => (bands[at + 1]?.from ?? band.from) - band.from);
  const median = [...lengths].sort((a, b) => a - b)[lengths.length >> 1] ?? 0;
  const kept: Band[] = [];
  bands.forEach((band, at) => {
    const last = kept[kept.length - 1];
    const short = at < bands.length - 1 && (lengths[at] ?? 0) <= median;
    if (last && (short || last.word === band.word)) return;
    kept.push(band);
  });
  return kept;
}
