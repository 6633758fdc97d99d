import type { ReactNode } from "react";

export interface PanelProps {
  readonly title: string;
  /** Beside the title. */
  readonly tools?: ReactNode;
  readonly children: ReactNode;
}

export function Panel({ title, tools, children }: PanelProps): ReactNode {
  return (
    <section className="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {tools}
      </header>
      {children}
    </section>
  );
}
