import type { ReactNode } from "react";

/** The name, and a path that goes on after a gap. */
export function Brand(): ReactNode {
  return (
    <span className="brand">
      <svg viewBox="0 0 32 32" aria-hidden>
        <rect width="32" height="32" rx="8" fill="var(--accent)" />
        <path
          d="M7 21V11h6.2a4 4 0 0 1 0 8H11"
          fill="none"
          stroke="var(--accent-ink)"
          strokeWidth="2.6"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
        <path
          d="M17 21h8"
          fill="none"
          stroke="var(--accent-ink)"
          strokeWidth="2.6"
          strokeLinecap="round"
          strokeDasharray="0.1 4"
        />
      </svg>
      Perdure
    </span>
  );
}
