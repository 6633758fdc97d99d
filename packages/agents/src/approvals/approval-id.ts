// Ids of approvals: whoever holds one may answer (if they are among the approvers), so nobody may guess one. 160 bits from
// the platform's source of secrets, drawn in a step: `ctx.random()` and `ctx.uuid()` follow from the run's id, which is
// no secret.

import type { Context } from "@perdure/sdk";

const ID_BYTES = 20;
const FORM = /^apr_[0-9a-f]{40}$/;

export function newApprovalId(ctx: Context): Promise<string> {
  return ctx.step("approval id", () => {
    const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
    return `apr_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  });
}

/** Has it the form of an id that `newApprovalId` gives? What has not cannot be answered, and needs no run to say so. */
export function isApprovalId(text: string): boolean {
  return FORM.test(text);
}
