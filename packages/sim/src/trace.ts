// What happened in a world, line by line, for people.
//
//   tick=   912 host=0 $  run=r12 attempt=3  suspended on sleep#4        journal=11

import type { Mutation } from "@perdure/engine";
import type { Awaiting, Entry, RunId } from "@perdure/protocol";
import type { Agenda } from "./agenda.ts";
import type { Shadow } from "./checkers/shadow.ts";
import type { Names, Observation } from "./observations.ts";

export type TraceSink = (line: string) => void;

export class Trace {
  readonly #sink: TraceSink | null;
  readonly #agenda: Agenda;
  readonly #names: Names;
  readonly #shadow: Shadow;

  constructor(sink: TraceSink | null, agenda: Agenda, names: Names, shadow: Shadow) {
    this.#sink = sink;
    this.#agenda = agenda;
    this.#names = names;
    this.#shadow = shadow;
  }

  phase(text: string): void {
    this.#sink?.(`phase=${text} at tick ${this.#agenda.tick}`);
  }

  note(host: number, mark: string, text: string): void {
    if (this.#sink === null) return;
    const spoken = text.replaceAll(/run_1[0-9A-Za-z]{33}/g, (id) => this.#names.of(id as RunId));
    this.#sink(`  tick=${String(this.#agenda.tick).padStart(6)} host=${host < 0 ? "-" : host} ${mark}  ${spoken}`);
  }

  see(observation: Observation): void {
    if (this.#sink === null) return;
    switch (observation.type) {
      case "committed":
        for (const mutation of observation.commit.mutations) this.#mutation(observation.host, mutation);
        return;
      case "started": {
        const { host, attempt, start } = observation;
        return this.note(
          host,
          "+",
          `run=${start.run} attempt=${attempt}  begins ${start.service}/${start.handler}/${start.key ?? ""} generation=${start.generation} ${start.image === null ? "" : `image=${start.image.info.entry} `}journal=${start.entries.length}`,
        );
      }
      case "told":
        return this.note(
          -1,
          "?",
          `attempt=${observation.attempt}  is told ${observation.entries.map(entryText).join(", ")}`,
        );
      case "over":
        return this.note(
          -1,
          "-",
          `attempt=${observation.attempt}  over: ${observation.how}${observation.entriesSeen === undefined ? "" : ` after entry ${observation.entriesSeen}, awaiting ${(observation.awaiting ?? []).map(awaitingText).join(" ")}`}`,
        );
      case "executed":
        return this.note(-1, "*", `attempt=${observation.attempt}  executes step ${observation.command}`);
      case "replied":
        return this.note(
          -1,
          "<",
          `${observation.question.type}${"run" in observation.question ? ` ${observation.question.run}` : ""}: ${JSON.stringify(observation.reply)}`,
        );
      default:
        return;
    }
  }

  #mutation(host: number, mutation: Mutation): void {
    switch (mutation.type) {
      case "insertRun":
      case "updateRun": {
        const { id, status, awaiting, cancelling, retry } = mutation.run;
        const more = [
          ...(awaiting === null ? [] : [`on ${awaiting.map(awaitingText).join(" ")}`]),
          ...(cancelling === null ? [] : [`cancelling, waits for ${cancelling.waitingFor.join(" ")}`]),
          ...(retry === null ? [] : [`tries=${retry.tries}`]),
        ];
        return this.note(
          host,
          "$",
          `run=${id} ${mutation.type === "insertRun" ? `stored as number ${mutation.run.seq}, ` : ""}${status} ${more.join(" ")}`,
        );
      }
      case "appendEntry":
        return this.note(
          host,
          "$",
          `run=${this.#shadow.bySeq.get(mutation.run)?.record.id ?? mutation.run} journal=${mutation.entry.index}  ${entryText(mutation.entry)}`,
        );
      case "addImage": {
        const { entry, hash, size } = mutation.info;
        const text = `number ${mutation.run}: image ${entry} ${hash.slice(0, 8)}, ${size} bytes`;
        return this.note(host, "$", mutation.bytes === null ? `${text}, known` : text);
      }
      case "addTimer":
      case "removeTimer":
        return this.note(
          host,
          "$",
          `${mutation.type} ${mutation.timer.kind} ${mutation.timer.id} of number ${mutation.timer.run} at ${mutation.timer.at}`,
        );
      default:
        return this.note(host, "$", JSON.stringify(mutation));
    }
  }
}

function awaitingText(item: Awaiting): string {
  return item.kind === "completion"
    ? `#${item.id}`
    : item.kind === "signal"
      ? `signal ${item.signal}`
      : `time ${item.at}`;
}

function entryText(entry: Entry): string {
  switch (entry.kind) {
    case "command":
      return `${entry.index}:${entry.command.type}#${entry.id}${entry.result === undefined ? "" : "=done"}${entry.child === undefined ? "" : ` child ${entry.child}`}`;
    case "completion":
      return `${entry.index}:completion#${entry.id}`;
    case "signal":
      return `${entry.index}:signal ${entry.signal}`;
    case "retry":
      return `${entry.index}:retry#${entry.id} tries=${entry.tries}`;
    case "resumed":
      return `${entry.index}:resumed${entry.forget === undefined ? "" : ` forget#${entry.forget}`}`;
  }
}
