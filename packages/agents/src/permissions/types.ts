// Permissions as they are written down, and what comes of them.

import type { ApprovalRequest } from "../approvals/types.ts";

/** `ask`: a person decides. */
export type PermissionAction = "allow" | "ask" | "deny";

/** Does a tool only look, or does it change something? */
export type ToolKind = "read" | "write";

/**
 * What a value of the input may be: exactly this; a glob (a text with `*` for any characters and `?` for one; `\` takes
 * their meaning away); a regular expression; any of a list; or whatever a function says. The function must follow from
 * its arguments alone: it is asked again on replay.
 *
 * Globs and expressions see a text, not what a shell or a file system makes of it: `git *` also fits `git log; rm -rf ~`,
 * `/tmp/*` also fits `/tmp/../etc/passwd`. Where that matters, allow by exact values or by a function.
 */
export type InputPattern =
  | string
  | number
  | boolean
  | null
  | RegExp
  | readonly InputPattern[]
  | ((value: unknown, input: unknown) => boolean);

export interface PermissionRule {
  /** A tool's name, or a glob: `bash`, `file.*`, `*`. */
  readonly tool: string;
  /**
   * Places in the input and what must stand there, all of them: `{ "to.domain": "example.com", "files[0]": "*.md" }`.
   * `$` is the whole input.
   */
  readonly when?: Readonly<Record<string, InputPattern>>;
  readonly action: PermissionAction;
  /** For people, and for the model where it is denied. */
  readonly reason?: string;
  /** With `ask`: as in an approval's request. */
  readonly approvers?: readonly string[];
  readonly expires?: NonNullable<ApprovalRequest["expires"]>;
  readonly escalate?: NonNullable<ApprovalRequest["escalate"]>;
}

/** What a tool says of itself: always ask, never ask, or ask for inputs of which this is true. */
export type ToolApproval = "always" | "never" | ((input: unknown) => boolean);

/** A call of a tool that is about to begin. */
export interface ToolCall {
  readonly tool: string;
  readonly input: unknown;
  readonly kind: ToolKind;
  readonly approval?: ToolApproval;
}

/** Who decided. */
export type DecidedBy =
  | { readonly by: "rule"; readonly index: number; readonly rule: PermissionRule }
  | { readonly by: "tool" }
  | { readonly by: "default" };

export interface Verdict {
  readonly action: PermissionAction;
  readonly decided: DecidedBy;
  /** One line for people: which rule, and its reason. */
  readonly why: string;
}

const STRICTNESS: Readonly<Record<PermissionAction, number>> = { allow: 0, ask: 1, deny: 2 };

export function mostRestrictive(a: PermissionAction, b: PermissionAction): PermissionAction {
  return STRICTNESS[b] > STRICTNESS[a] ? b : a;
}
