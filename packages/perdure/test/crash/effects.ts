"use host";
// Effects that are counted, in Node: handlers in isolates come here for them, too.

let happened: string[] = [];

export async function effect<T>(name: string, value: T): Promise<T> {
  happened.push(name);
  return value;
}

export async function hasHappened(name: string): Promise<boolean> {
  return happened.includes(name);
}

export async function forgetEffects(): Promise<void> {
  happened = [];
}
