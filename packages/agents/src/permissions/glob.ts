// Globs over plain text: `*` any characters, also none, `?` one, `\` takes the meaning of the next one away. Matched in
// time of at most the product of both lengths, since the text comes from a model (a regular expression made of a glob
// can be made to run for hours).

const ANY: unique symbol = Symbol("any characters");
const ONE: unique symbol = Symbol("one character");
export type Glob = readonly (string | typeof ANY | typeof ONE)[];

/** Undefined where the text ends in a lone `\`. */
export function parseGlob(text: string): Glob | undefined {
  const glob: (string | typeof ANY | typeof ONE)[] = [];
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charAt(i);
    if (char === "*") {
      if (glob.at(-1) !== ANY) glob.push(ANY);
    } else if (char === "?") glob.push(ONE);
    else if (char !== "\\") glob.push(char);
    else {
      i += 1;
      if (i === text.length) return undefined;
      glob.push(text.charAt(i));
    }
  }
  return glob;
}

/** Greedy, going back to the last `*` alone: what earlier ones have taken is as good as any other choice. */
export function matchesGlob(glob: Glob, text: string): boolean {
  let g = 0;
  let t = 0;
  let star = -1;
  let starTo = 0;
  while (t < text.length) {
    const part = glob[g];
    if (part === ANY) {
      star = g;
      starTo = t;
      g += 1;
    } else if (part === ONE || part === text.charAt(t)) {
      g += 1;
      t += 1;
    } else if (star >= 0) {
      starTo += 1;
      t = starTo;
      g = star + 1;
    } else return false;
  }
  while (glob[g] === ANY) g += 1;
  return g === glob.length;
}
