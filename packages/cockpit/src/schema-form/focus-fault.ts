/** The first field that is wrong gets the focus, once it is shown to be. */
export function focusFault(form: string): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`${form} [aria-invalid="true"]`)?.focus());
}
