// Who holds a TCP port, as far as this system tells: on Linux by /proc, elsewhere nobody is named.

import { readFile, readdir, readlink } from "node:fs/promises";

export interface PortHolder {
  readonly pid: number;
  readonly command: string;
}

const LISTENING = "0A";

/** Undefined where it cannot be told (another system, another user's process). */
export async function findPortHolder(port: number): Promise<PortHolder | undefined> {
  try {
    const inodes = new Set(
      (await Promise.all(["/proc/net/tcp", "/proc/net/tcp6"].map((file) => listeners(file, port)))).flat(),
    );
    return inodes.size === 0 ? undefined : await ownerOf(inodes);
  } catch {
    return undefined; // Naming the holder is a courtesy: the port is taken either way.
  }
}

async function listeners(file: string, port: number): Promise<string[]> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const text = await readFile(file, "utf8").catch(() => "");
  return text
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(suffix) === true && fields[3] === LISTENING)
    .map((fields) => fields[9] ?? "");
}

async function ownerOf(inodes: ReadonlySet<string>): Promise<PortHolder | undefined> {
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const handles = await readdir(`/proc/${name}/fd`).catch(() => []); // Not ours to look at, or gone by now.
    for (const handle of handles) {
      const inode = /^socket:\[(\d+)\]$/.exec(await readlink(`/proc/${name}/fd/${handle}`).catch(() => ""))?.[1];
      if (inode === undefined || !inodes.has(inode)) continue;
      const command = (await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ").trim();
      return { pid: Number(name), command };
    }
  }
  return undefined;
}
