// Where two short texts part, word by word: what they begin and end with alike, and what differs in between.

export interface WordDiff {
  readonly head: string;
  readonly before: string;
  readonly after: string;
  readonly tail: string;
}

const WORDS = /\s+|[\p{L}\p{N}_]+|./gu;

/** @returns parts of which `head + before + tail` is the one text, `head + after + tail` the other. */
export function diffWords(before: string, after: string): WordDiff {
  const left = before.match(WORDS) ?? [];
  const right = after.match(WORDS) ?? [];
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  return {
    head: left.slice(0, start).join(""),
    before: left.slice(start, left.length - end).join(""),
    after: right.slice(start, right.length - end).join(""),
    tail: end === 0 ? "" : left.slice(-end).join(""),
  };
}

/** The place in a stack's line: `charge (file:///srv/shop.ts:12:34)` is in `/srv/shop.ts:12:34`. */
export function placeOf(position: string): string {
  const found = /\(?((?:file:\/\/)?\/?[^()\s]+:\d+:\d+)\)?\s*$/.exec(position)?.[1] ?? position;
  return found.replace(/^file:\/\//, "");
}
