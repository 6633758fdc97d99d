// What agents, tools and documents may say: texts that want to be run, to send something away, to hide, or to break a page.
// Each script among them calls `pwned`, which a test listens to; each address that something would be sent to is `leak.test`.

export interface Hostile {
  readonly kind: string;
  readonly text: string;
}

const SCRIPTS: readonly string[] = [
  `<script>pwned("script")</script>`,
  `<script src="//leak.test/x.js"></script>`,
  `</script><script>pwned("closed a script")</script>`,
  `</textarea></style></title><script>pwned("closed others")</script>`,
  `<img src=x onerror=pwned("img")>`,
  `<img src="https://leak.test/pixel.png">`,
  `<svg onload=pwned("svg")><script>pwned("svg script")</script></svg>`,
  `<svg><a xlink:href="javascript:pwned('svg link')"><text y=20>press</text></a></svg>`,
  `<svg><animate onbegin=pwned("animate") attributeName=x dur=1s></svg>`,
  `<iframe srcdoc="<script>parent.pwned('frame')</script>"></iframe>`,
  `<iframe src="javascript:parent.pwned('frame address')"></iframe>`,
  `<object data="data:text/html,<script>opener.pwned('object')</script>"></object>`,
  `<math><maction actiontype="statusline#" xlink:href="javascript:pwned('math')">x</maction></math>`,
  `<details open ontoggle=pwned("toggle")>x</details>`,
  `<input autofocus onfocus=pwned("focus")>`,
  `<body onload=pwned("body")>`,
  `<base href="https://leak.test/">`,
  `<meta http-equiv="refresh" content="0;url=https://leak.test/">`,
  `<meta http-equiv="Content-Security-Policy" content="script-src *">`,
  `<link rel="stylesheet" href="https://leak.test/x.css">`,
  `<style>@import "https://leak.test/x.css"; body { display: none }</style>`,
  `<form action="https://leak.test/"><button autofocus>ok</button></form>`,
  `<template><script>pwned("template")</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=pwned('noscript')>">`,
  `"><img src=x onerror=pwned("quote")>`,
  `' onmouseover='pwned("attribute")`,
  "`-pwned(`template literal`)-`",
  `{{constructor.constructor("pwned('expression')")()}}`,
  `\${pwned("interpolation")}`,
  `javascript:pwned("address")`,
  `data:text/html,<script>pwned("data")</script>`,
];

const MARKDOWN: readonly string[] = [
  `[press](javascript:pwned('link'))`,
  `[press](JaVaScRiPt:pwned('case'))`,
  `[press](&#106;avascript:pwned('entity'))`,
  `[press](java\tscript:pwned('tab'))`,
  `[press](vbscript:msgbox)`,
  `[press](data:text/html;base64,PHNjcmlwdD5wd25lZCgnYmFzZTY0Jyk8L3NjcmlwdD4=)`,
  `[press](https://leak.test/ "onclick=pwned('title')")`,
  `![picture](https://leak.test/pixel.png)`,
  `![picture](x "onerror=pwned('image title')")`,
  `![picture][later]\n\n[later]: javascript:pwned('reference')`,
  `<https://leak.test/> <javascript:pwned('autolink')>`,
  `<div onclick="pwned('html block')">\n\n# inside\n\n</div>`,
  `| a | b |\n| --- | --- |\n| <img src=x onerror=pwned('cell')> | [x](javascript:pwned('cell link')) |`,
  `\`\`\`html"><script>pwned('fence')</script>\n<script>pwned('code')</script>\n\`\`\``,
  `[^1]\n\n[^1]: <script>pwned('footnote')</script>`,
  `<!-- --><script>pwned('comment')</script>`,
];

const HIDDEN: readonly string[] = [
  `approved\u202e\u2066detcejer\u2069`, // Reads as its opposite.
  `\u202egnp.exe.report`,
  `in\u200bvis\u200bi\u2060ble\ufeff`,
  `tagged\u{e0041}\u{e0042}\u{e007f}`,
  `bell\u0007 escape\u001b[31mred\u001b[0m null\u0000 delete\u007f`,
  `half a \ud83d pair`,
  `line\u2028separator paragraph\u2029separator`,
  `blank\u3164\u115f\u2800filler`,
  `a${"\u0301".repeat(200)} mountain of accents`,
  `private\ue000use`,
  "\u061c\u200e\u200f marks of direction",
];

const HUGE: readonly string[] = [
  "W".repeat(20_000),
  "wide ".repeat(4_000),
  "line\n".repeat(4_000),
  `# ${"deep ".repeat(50)}\n${"> ".repeat(100)}quoted ${"- ".repeat(100)}listed`,
  `${"[".repeat(3_000)}${"*".repeat(3_000)}${"<".repeat(3_000)}`,
];

const one = (kind: string, texts: readonly string[]): Hostile => ({ kind, text: texts.join("\n\n") });
const each = (kind: string, texts: readonly string[]): readonly Hostile[] =>
  texts.map((text) => ({ kind: `${kind}: ${JSON.stringify(text.slice(0, 60))}`, text }));

/** Markdown has a grammar: what stands beside it might defuse it. The rest is only ever text. */
export const CORPUS: readonly Hostile[] = [
  one("scripts and what brings them", SCRIPTS),
  one("characters that hide", HIDDEN),
  ...each("Markdown", MARKDOWN),
  ...each("huge", HUGE),
];

/** Characters that none of the above may leave in the page as they are. Joiners may stay: emoji are written with them. */
export const UNSEEN: RegExp = /(?![\t\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u115f\u2800\u3164]/u;

/** All of the short ones in one document: what one forgets, another may use. */
export const EVERYTHING: string = [...SCRIPTS, ...MARKDOWN, ...HIDDEN].join("\n\n");
/** For names: of keys, sessions, steps, values. */
export const NAME: string = `<img src=x onerror=pwned('name')>"'\`/\u202e[x](javascript:pwned(1))\u200b`;
