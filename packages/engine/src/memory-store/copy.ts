// Copies of plain data. The memory store keeps nothing that somebody else can still change, and hands out nothing of
// its own: a caller who relied on either would work here and fail on a disk.

export function copy<T>(value: T): T {
  return copyValue(value) as T;
}

function copyValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (Array.isArray(value)) return value.map(copyValue);
  const result: Record<string, unknown> = {};
  for (const name in value) {
    const field = (value as Record<string, unknown>)[name];
    if (field !== undefined) result[name] = copyValue(field);
  }
  return result;
}
