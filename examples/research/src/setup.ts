// What the environment says, read once when the process starts.

import { createInjection, parsePlan, type Injection } from "./inject.ts";
import { chooseModel } from "./model/choose.ts";
import { readSettings, type Settings } from "./settings.ts";

export const settings: Settings = readSettings(process.env);
export const injection: Injection = createInjection(parsePlan(settings.inject), settings.data);
export const { model, label } = chooseModel(settings, injection);
