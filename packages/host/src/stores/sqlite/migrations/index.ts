// All migrations, in order. A released migration never changes; a new one gets the next number.

import type { Migration } from "../migrate.ts";
import { initial } from "./0001-initial.ts";
import { streams } from "./0002-streams.ts";
import { images } from "./0003-images.ts";

export const MIGRATIONS: readonly Migration[] = [initial, streams, images];
