/** `1 run`, `3,210 runs`: for languages with two forms. */
export function plural(locale: string, count: number, one: string, many: string): string {
  return `${count.toLocaleString(locale)} ${count === 1 ? one : many}`;
}
