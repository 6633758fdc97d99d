import { plural } from "../plural.ts";

const entries = (count: number): string => plural("en", count, "entry", "entries");
const steps = (count: number): string => plural("en", count, "step", "steps");
const subRuns = (count: number): string => plural("en", count, "sub-run", "sub-runs");

export const branches = {
  fork: "Fork",
  rewind: "Rewind",
  forkTitle: "Fork this run",
  rewindTitle: "Rewind this run?",
  forkHelp:
    "A new run shares what was done up to an entry, and goes on from there on its own. This one goes on as it is.",
  rewindHelp:
    "It goes back to what it was after an entry, and goes on from there under the same id. What it is now is kept: a branch that has ended, to be looked at and forked from.",
  at: "After entry",
  atHelp: (last: string): string => `0 to ${last}`,
  noEntry: (last: string): string => `The journal has entries 1 to ${last}. 0 is its beginning.`,
  places: "Places",
  begin: "The beginning",
  end: "The end",
  shared: {
    all: (count: number): string => `Shared: all ${entries(count)}`,
    upTo: (count: number): string => (count === 1 ? "Shared: entry 1" : `Shared: entries 1 to ${count}`),
    none: "Nothing is shared but the input: everything runs again.",
  },
  kept: {
    upTo: (count: number): string => (count === 1 ? "Stays: entry 1" : `Stays: entries 1 to ${count}`),
    none: "Nothing stays but the input: it begins anew.",
  },
  last: "the last one",
  left: (count: number): string => `Left behind: the ${entries(count)} after it. The fork makes its own way there.`,
  called: (count: number): string => `Called off: the ${entries(count)} after it.`,
  again: "Begun again, since there was no result by then:",
  waits: "Still waited for:",
  repeats: (count: number): string =>
    `${steps(count)} after it ${count === 1 ? "was" : "were"} done already. What the code asks for again is done again; what it did outside stays done.`,
  sharedChildren: (count: number): string =>
    `${subRuns(count)} ${count === 1 ? "is" : "are"} shared: the fork gets the results, and cancelling the fork does not reach them.`,
  openChildren: (count: number): string =>
    `${subRuns(count)} that ${count === 1 ? "was" : "were"} called since ${count === 1 ? "is" : "are"} cancelled:`,
  signals: "Signals that came since stay, and are heard again.",
  stateRestored: (key: string): string => `The state of ${key} is put back to what it was then.`,
  stateLeft: "It has ended, and others may have written since: the state of its key is left as it is.",
  key: "Key of the fork",
  keyHelp: (key: string): string =>
    `A fork needs a key that nobody uses, and takes a copy of the state and the streams of ${key} along. Empty: one is made.`,
  input: "Input, as JSON",
  inputHelp: "From the beginning it may have another one.",
  note: "Note to the fork",
  noteHelp: "A handler that listens to the signal perdure.fork gets it. Empty: none.",
  forked: "Forked",
  rewound: "Rewound",
  branchKept: "It was rewound. What it was before is kept as",
  dismiss: "Dismiss",
  forkedFrom: "Forked from",
  atEntry: (entry: string): string => `after entry ${entry}`,
  scheduled: "It has not begun: there is nothing to go back to.",
  moments: {
    title: "Moments",
    lane: "Moments of the run",
    image: "Image",
    one: (entry: string): string => `Moment at entry ${entry}`,
    help: "Here the execution itself is kept. Going on from here takes as long as loading it, however long the journal is.",
    named: "Kept as long as its run",
    unnamed: "Kept until newer ones take its place. A name keeps it.",
    entry: "Entry",
    taken: "Taken",
    size: "Size",
    name: "Name",
    nameIt: "Name it",
    rename: "Rename",
    unname: "Take the name away",
    placeholder: "before the mail",
    save: "Save",
    saved: "Named",
    removed: "The name is taken away",
    next: "Next moment",
  },
  memory: {
    title: "Memory",
    journal: "journal",
    journalHelp: "To go on elsewhere its code runs again from the top, and gets the recorded results",
    snapshot: "snapshot",
    snapshotHelp: "Its execution itself is imaged while it waits, and goes on from the newest image",
    bundle: "Bundle",
    bundleHelp: "The code that the run began with, by its hash. It stays with it.",
    images: "Images",
    noImages: "none yet",
    imagesOf: (count: number, size: string): string => `${count.toLocaleString("en")}, ${size}`,
    newest: (entry: string): string => `newest at entry ${entry}`,
    tail: (count: number): string => (count === 0 ? "nothing after it" : `${entries(count)} after it`),
  },
  divergence: {
    title: "The code took another way than its journal",
    recorded: "Recorded",
    now: "Now",
    at: "Where",
    showEntry: (entry: string): string => `Show entry ${entry}`,
    choose: "What to do",
    fix: "Bring back the code as it was, or make it ask for the same again. Then resume: it goes on where it stopped.",
    rewind: (entry: string): string =>
      `Go back to before entry ${entry}. The code as it is now goes on from there, and does again what comes after.`,
    fork: (entry: string): string =>
      `Try it first: a fork goes on from before entry ${entry} with the code as it is now, and this run stays paused.`,
  },
};
