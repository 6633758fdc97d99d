const FENCE = /^ {0,3}(?:```|~~~)/;

/** At the last blank line that is not within a block of code: what is before it will not change its meaning any more. */
export function splitFinished(text: string): readonly [finished: string, rest: string] {
  let isCode = false;
  let split = 0;
  let at = 0;
  for (const line of text.split("\n")) {
    const next = at + line.length + 1;
    if (FENCE.test(line)) isCode = !isCode;
    else if (!isCode && line.trim() === "" && at > 0 && next <= text.length) split = next;
    at = next;
  }
  return [text.slice(0, split), text.slice(split)];
}
