import { describeBlobs } from "@perdure/engine/testing";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDirectoryBlobs } from "./directory.ts";

describeBlobs("directory", {
  async open() {
    const directory = mkdtempSync(join(tmpdir(), "perdure-blobs-"));
    const open = () => openDirectoryBlobs({ directory });
    return { blobs: await open(), reopen: open, dispose: async () => rmSync(directory, { recursive: true }) };
  },
});
