// The page on which a person answers an approval
// ==============================================
// What an agent says is hostile text: it may be written to look like a part of the page, or to make the approver see
// something else than what will be done.
//
// H1. Every text is escaped, in one function; there is no other way into the page than `html`.
// H2. Nothing on the page can run or load anything: no script, no image, one style sheet that is known by its hash.
// H3. What cannot be seen is shown: control characters, and those that turn the direction of text or take no space.

import { createHash } from "node:crypto";
import type { ApprovalView } from "@perdure/agents";

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
h1 { font-size: 1.25rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; }
dt { opacity: .7; } dd { margin: 0; overflow-wrap: anywhere; }
pre, textarea { font: .9rem/1.4 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
pre { padding: .75rem; border: 1px solid; border-radius: .4rem; max-height: 30rem; overflow: auto; }
label { display: block; margin: .75rem 0 .25rem; }
input, textarea { width: 100%; box-sizing: border-box; padding: .4rem; }
button { font: inherit; padding: .5rem 1.25rem; margin: 1rem .5rem 0 0; }
.problem { border: 2px solid #c22; padding: .5rem .75rem; border-radius: .4rem; }
`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; sandbox allow-forms allow-same-origin`,
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // The address is a secret; the form still says where it comes from, as the guard wants to know.
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

/** Markup that was written here, or made of escaped text. */
class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function html(parts: TemplateStringsArray, ...values: readonly (string | Markup | readonly Markup[])[]): Markup {
  const written = values.map((value) => {
    if (typeof value === "string") return escaped(value);
    return value instanceof Markup ? value.text : value.map(({ text }) => text).join("");
  });
  return new Markup(parts.map((part, index) => part + (written[index] ?? "")).join(""));
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
/** Controls, formats (direction, joiners, tags), lone surrogates, private use. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029\u115f\u1160\u3164\uffa0\u2800]/gu;

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "").replaceAll(UNSEEN, seen);
}

function seen(character: string): string {
  if (character === "\n" || character === "\t") return character;
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

const NOTHING = new Markup("");

export interface PageState {
  /** Why the answer that was just given was refused. */
  readonly problem?: string;
}

export function approvalPage(view: ApprovalView, { problem }: PageState = {}): string {
  const { request, state, decision } = view;
  const input = request.input === undefined ? undefined : JSON.stringify(request.input, null, 2);
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["Agent", request.agent],
    ["Session", request.session],
    ["Tool", request.tool],
    ["Asked", timeText(view.askedAt)],
    ["Expires", view.expiresAt === undefined ? undefined : timeText(view.expiresAt)],
    ["Who may answer", view.approvers === undefined ? "whoever has this link" : view.approvers.join(", ") || "nobody"],
    ["State", state],
    ["Answered by", decision?.by],
    ["Comment", decision?.comment],
  ];
  return page(
    request.title,
    html`<h1>${request.title}</h1>
${problem === undefined ? NOTHING : html`<p class="problem" role="alert">${problem}</p>`}
<dl>${facts.flatMap(([name, value]) => (value === undefined ? [] : [html`<dt>${name}</dt><dd>${value}</dd>`]))}</dl>
${input === undefined ? NOTHING : html`<h2>What will be done</h2><pre>${input}</pre>`}
${request.details === undefined ? NOTHING : html`<h2>Details</h2><pre>${JSON.stringify(request.details, null, 2)}</pre>`}
${state === "open" ? form(input) : NOTHING}`,
  );
}

function form(input: string | undefined): Markup {
  return html`<form method="post">
<label for="by">Your name</label><input id="by" name="by" required maxlength="200" autocomplete="name">
<label for="comment">Comment</label><textarea id="comment" name="comment" rows="3" maxlength="10000"></textarea>
${input === undefined ? NOTHING : editing(input)}
<button name="decision" value="approved">Approve</button><button name="decision" value="rejected">Reject</button>
</form>`;
}

/** Empty means as asked: a text area would not give back what it was given, character by character. */
function editing(input: string): Markup {
  return html`<details><summary>Approve something else</summary>
<label for="input">What to do instead, as JSON (empty: as asked)</label><textarea id="input" name="input" rows="8" placeholder="${input}"></textarea></details>`;
}

/** There is nothing to answer, and this is why. */
export function problemPage(title: string, message: string): string {
  return page(title, html`<h1>${title}</h1><p class="problem" role="alert">${message}</p>`);
}

function page(title: string, body: Markup): string {
  const style = new Markup(STYLE);
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${title}</title><style>${style}</style></head>
<body>${body}</body></html>
`.text;
}

function timeText(at: number): string {
  return new Date(at)
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, " UTC");
}
