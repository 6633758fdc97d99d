// A run in a few words: whom it is of, and its id, cut.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RunId, Target } from "@perdure/protocol";
import { visibleLine } from "./visible-text.ts";

const HEAD = "run_1".length;
const TAIL_SHOWN = 7;

/** The end of an id tells runs of one key apart; its beginning is the same for all of them. */
export function shortId(id: RunId): string {
  return `${id.slice(0, HEAD)}…${id.slice(-TAIL_SHOWN)}`;
}

/** `mailer/send`, `research/demo/run`. */
export function targetText({ service, key, handler }: Omit<Target, "key"> & { readonly key?: string | null }): string {
  return key === null || key === undefined ? `${service}/${handler}` : `${service}/${key}/${handler}`;
}

export interface RunLinkProps {
  readonly id: RunId;
  /** The one that is shown. */
  readonly entry?: number;
  readonly children?: ReactNode;
}

export function RunLink({ id, entry, children }: RunLinkProps): ReactNode {
  return (
    <Link
      className="run-link"
      to="/runs/$run"
      params={{ run: id }}
      search={entry === undefined ? {} : { entry }}
      title={id}
    >
      {children ?? shortId(id)}
    </Link>
  );
}

/** Service, key and handler, told apart by their weight. */
export function TargetName({ of }: { readonly of: Parameters<typeof targetText>[0] }): ReactNode {
  const { service, key, handler } = of;
  return (
    <span className="target cut" title={visibleLine(targetText(of))}>
      <b>{visibleLine(service)}</b>
      {key === null || key === undefined ? null : <span className="dim">/{visibleLine(key)}</span>}
      <span>/{visibleLine(handler)}</span>
    </span>
  );
}
