// The little of jsdom that a test needs: its own types want the DOM in every file.

declare module "jsdom" {
  export class JSDOM {
    constructor(html: string, options?: { readonly url?: string });
    readonly window: {
      readonly document: { getElementById(id: string): object | null };
    };
  }
}
