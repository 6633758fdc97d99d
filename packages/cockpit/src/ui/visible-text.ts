// Texts of others, made harmless to the eye: what an agent writes may turn the direction of what stands beside it, or hide
// something. Such characters are shown by their number.

/** Controls but tab and newline, formats (direction, joiners, tags), lone surrogates, private use, blanks that are none. */
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029\u115f\u1160\u3164\uffa0\u2800]/gu;
/** Joiners that emoji and some scripts are written with. */
const JOINERS = new Set(["\u200c", "\u200d"]);

export function visibleText(text: string): string {
  return text.replaceAll(UNSEEN, (character) =>
    JOINERS.has(character) ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** For one line: line breaks are shown, too. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll("\n", "⏎").replaceAll("\t", " ");
}
