// Documents that agents write, as documents
// =========================================
// D1. No HTML of theirs becomes HTML: it is shown as the text that it is.
// D2. A link leads to http or https, says nothing of where one came from, and nothing loads by itself: an image is a link.

import type { ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { visibleText } from "./visible-text.ts";

// A document stands below the page's own title.
const COMPONENTS: Components = {
  h1: ({ children }) => <h2>{children}</h2>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
  a: ({ href, children }) => <SafeLink href={href}>{children}</SafeLink>,
  // What is wider than the page is scrolled, by the keyboard too.
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  table: ({ children }) => (
    <div className="table-scroll" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
  img: ({ src, alt }) => <SafeLink href={typeof src === "string" ? src : undefined}>🖼 {alt ?? ""}</SafeLink>,
};

export function Markdown({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="document">
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={COMPONENTS} urlTransform={safeAddress}>
        {visibleText(text)}
      </ReactMarkdown>
    </div>
  );
}

function SafeLink({ href, children }: { readonly href: string | undefined; readonly children: ReactNode }): ReactNode {
  const address = safeAddress(href ?? "");
  if (address === undefined) return <span>{children}</span>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow" title={address}>
      {children}
    </a>
  );
}

/** Undefined where it leads elsewhere than to the web. */
function safeAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
}
