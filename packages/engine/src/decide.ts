// decide: synchronous and pure. The same view, batch and time give the same decision, in the host and in the simulator.

import { unreachable } from "@perdure/protocol";
import type { Batch } from "./batch.ts";
import { attemptCommand } from "./commands/attempt-command.ts";
import { attemptError, end, propose, retrying, suspend } from "./commands/attempt-end.ts";
import { cancel, kill } from "./commands/cancel.ts";
import { pause, purge, restart, resume, settleEffect } from "./commands/control.ts";
import { fork } from "./commands/fork.ts";
import { forgetImages, image, imageUnusable, nameMoment } from "./commands/images.ts";
import { attach, editState, signalEvent } from "./commands/messages.ts";
import { migrate, planMigration } from "./commands/migrate.ts";
import { rewind } from "./commands/rewind.ts";
import { retention } from "./commands/retention.ts";
import { appendLive } from "./commands/streams.ts";
import { NeedsFinder } from "./needs.ts";
import { submit } from "./commands/submit.ts";
import { beginWaiting, fireTimers } from "./commands/timers.ts";
import type { Event } from "./events.ts";

export function decide(batch: Batch, events: readonly Event[]): void {
  for (const event of events) decideOne(batch, event);
}

function decideOne(batch: Batch, event: Event): void {
  switch (event.type) {
    case "propose":
      return propose(batch, event);
    case "command":
      return attemptCommand(batch, event);
    case "append":
      return appendLive(batch, event);
    case "end":
      return end(batch, event);
    case "submit":
      return submit(batch, event);
    case "suspend":
      return suspend(batch, event);
    case "retrying":
      return retrying(batch, event);
    case "error":
      return attemptError(batch, event);
    case "image":
      return image(batch, event);
    case "imageUnusable":
      return imageUnusable(batch, event);
    case "attach":
      return attach(batch, event);
    case "signal":
      return signalEvent(batch, event);
    case "cancel":
      return cancel(batch, event);
    case "kill":
      return kill(batch, event);
    case "pause":
      return pause(batch, event);
    case "resume":
      return resume(batch, event);
    case "restart":
      return restart(batch, event);
    case "settleEffect":
      return settleEffect(batch, event);
    case "purge":
      return purge(batch, event);
    case "fork":
      return isLoaded(batch, event) ? fork(batch, event) : void batch.deferred.push(event);
    case "rewind":
      return isLoaded(batch, event) ? rewind(batch, event) : void batch.deferred.push(event);
    case "migrate":
      return migrate(batch, event);
    case "planMigration":
      return planMigration(batch, event);
    case "nameMoment":
      return nameMoment(batch, event);
    case "forgetImages":
      return forgetImages(batch, event);
    case "editState":
      return !event.force || isLoaded(batch, event) ? editState(batch, event) : void batch.deferred.push(event);
    case "begin":
      return beginWaiting(batch, event);
    case "timers":
      return fireTimers(batch);
    case "retention":
      return retention(batch);
    default:
      return unreachable(event);
  }
}

/** False where the run came to be, or grew, in this very batch: much of what the event needs was not loaded then. */
function isLoaded(batch: Batch, event: Event): boolean {
  return new NeedsFinder(batch).find([event]) === null;
}
