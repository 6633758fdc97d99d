// Folders for tests: made of texts, gone with the test.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { onTestFinished } from "vitest";

/** A folder with these files; it is removed when the test has ended. */
export function folderWith(files: Readonly<Record<string, string>> = {}): string {
  const { folder, remove } = lastingFolder(files);
  onTestFinished(remove);
  return folder;
}

/** The same for whoever removes it themselves. */
export function lastingFolder(files: Readonly<Record<string, string>> = {}): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "perdure-research-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A small handbook: four documents that answer questions about a lighthouse. */
export const LIGHTHOUSE: Readonly<Record<string, string>> = {
  "lamp.md": `# The lamp

## Lighting the lamp

The keeper lights the lamp at sunset and puts it out at sunrise. The lamp burns colza oil, of which it needs two
litres each night. A dirty lens halves the range of the lamp, so the keeper cleans it every morning.

## When the lamp fails

If the lamp fails, the keeper lights the spare lamp within five minutes. Every failure of the lamp is written into the
log book, with the time and the cause.
`,
  "storms.md": `# Storms

During a storm the keeper stays in the tower and must not go down to the boat. The fog horn sounds every two minutes
while the storm hides the light of the lamp.

## After a storm

After a storm the keeper looks for damage at the lantern, the lens and the landing, and writes it into the log book.
`,
  "supplies/boat.md": `# The supply boat

The supply boat comes every second Monday and brings oil, food and letters. When a storm keeps the boat away, the
keeper rations the oil so that the lamp can burn every night.
`,
  "visitors.txt": `Visitors may climb the tower between ten and four o'clock, except during a storm.

Nobody but the keeper may touch the lamp or the lens.
`,
};
