// Is the write-ahead log whole?
// =============================
// SQLite replays a log up to the first frame that does not fit, and says nothing about what comes after. That is right
// for the last transaction, which a crash may have torn. But every commit is flushed before the next is begun, so two
// commits behind a frame that does not fit mean that a *fulfilled* commit was damaged afterwards (E1), and somebody has
// to be told.
//
// Format: 32 bytes of header (magic, version, page size, checkpoint number, salts, checksum), then frames of 24 bytes
// (page, size of the database after a commit or 0, salts, checksum) and a page. The checksum runs on from frame to
// frame; its words are big or little endian as the magic says. Frames of an older round have other salts.

import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f0682;
const CHUNK_FRAMES = 256;

export interface WalCheck {
  /** Whole commits from the start. */
  readonly commits: number;
  /** Byte at which the log stops to fit; its end where all is well. */
  readonly validBytes: number;
  /** Commits from that byte on that belong to this round of the log. */
  readonly commitsLost: number;
  readonly headerDamaged: boolean;
}

const EMPTY_WAL: WalCheck = { commits: 0, validBytes: 0, commitsLost: 0, headerDamaged: false };

/** A damaged log, rather than one whose last transaction was torn by a crash. */
export function isWalDamaged(check: WalCheck): boolean {
  return check.headerDamaged || check.commitsLost >= 2;
}

export function checkWal(path: string): WalCheck {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return EMPTY_WAL;
  }
  try {
    return checkFile(file, fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}

function checkFile(file: number, size: number): WalCheck {
  if (size < HEADER_BYTES) return EMPTY_WAL; // Nothing was ever committed to it.
  const header = Buffer.alloc(HEADER_BYTES);
  readSync(file, header, 0, HEADER_BYTES, 0);
  const big = (header.readUInt32BE(0) & 1) === 1;
  const sums: Sums = [0, 0];
  addToSums(sums, header, 0, 24, big);
  const fits =
    (header.readUInt32BE(0) & ~1) === MAGIC &&
    sums[0] === header.readUInt32BE(24) &&
    sums[1] === header.readUInt32BE(28);
  // A header is written once per round and flushed before the first commit of it.
  if (!fits) return { ...EMPTY_WAL, headerDamaged: size > HEADER_BYTES };
  return checkFrames(file, size, header, big, sums);
}

type Sums = [number, number];

function checkFrames(file: number, size: number, header: Buffer, big: boolean, sums: Sums): WalCheck {
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8);
  const salts = header.subarray(16, 24);
  const chunk = Buffer.alloc(frameBytes * CHUNK_FRAMES);
  let commits = 0;
  let validBytes = HEADER_BYTES;
  let commitsLost = 0;
  let fits = true;
  for (let at = HEADER_BYTES; at + frameBytes <= size; ) {
    const read = readSync(file, chunk, 0, Math.min(chunk.byteLength, size - at), at);
    const frames = Math.floor(read / frameBytes);
    if (frames === 0) break;
    for (let i = 0; i < frames; i += 1) {
      const frame = chunk.subarray(i * frameBytes, (i + 1) * frameBytes);
      const ours = frame.subarray(8, 16).equals(salts);
      const commit = frame.readUInt32BE(4) !== 0;
      addToSums(sums, frame, 0, 8, big);
      addToSums(sums, frame, FRAME_HEADER_BYTES, frameBytes, big);
      const whole = ours && sums[0] === frame.readUInt32BE(16) && sums[1] === frame.readUInt32BE(20);
      const broken = fits && !whole;
      if (broken) fits = false;
      if (fits && commit) commits += 1;
      if (fits) validBytes = at + (i + 1) * frameBytes;
      else if (ours && commit && (whole || broken)) commitsLost += 1;
      // Behind the damage each frame is judged by its predecessor, whatever became of that.
      sums[0] = frame.readUInt32BE(16);
      sums[1] = frame.readUInt32BE(20);
    }
    at += frames * frameBytes;
  }
  return { commits, validBytes, commitsLost, headerDamaged: false };
}

/** SQLite's running checksum, over pairs of 32-bit words. */
function addToSums(sums: Sums, bytes: Buffer, from: number, to: number, big: boolean): void {
  let [first, second] = sums;
  for (let at = from; at < to; at += 8) {
    const a = big ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
    const b = big ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4);
    first = (first + a + second) >>> 0;
    second = (second + b + first) >>> 0;
  }
  sums[0] = first;
  sums[1] = second;
}
