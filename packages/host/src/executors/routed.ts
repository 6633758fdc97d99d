// Two executors as one: runs whose deployment is a bundle live in isolates, all others in this process.

import type { Attempt, AttemptReplies, AttemptStart, Executor } from "@perdure/protocol";

/** Deployments of isolates are hashes of bundles. */
const BUNDLE_HASH = /^[0-9a-f]{64}$/;

export function isBundleHash(deployment: string | null): deployment is string {
  return deployment !== null && BUNDLE_HASH.test(deployment);
}

export function createRoutedExecutor(inProcess: Executor, isolates: Executor): Executor {
  return {
    start: (start: AttemptStart, replies: AttemptReplies): Attempt =>
      (isBundleHash(start.deployment) ? isolates : inProcess).start(start, replies),
  };
}
