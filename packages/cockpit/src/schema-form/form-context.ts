import { createContext, useContext } from "react";
import type { Issue } from "./check-value.ts";
import type { Schema } from "./schema.ts";

export interface FormAround {
  /** What references in a schema point into. */
  readonly root: Schema;
  readonly issues: readonly Issue[];
}

export const FormContext = createContext<FormAround>({ root: true, issues: [] });

export function useForm(): FormAround {
  return useContext(FormContext);
}
