// DOMException, which the engine brings, as the types of this package do not know it.

interface PlatformError extends Error {
  readonly code: number;
}

declare const DOMException: new (message?: string, name?: string) => PlatformError;

export const platformError = (message: string, name: string): PlatformError => new DOMException(message, name);
