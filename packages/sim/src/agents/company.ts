// All that a world with agents has beside its programs: the agents on each host, the provider's bill and the bank's ledger,
// which outlive the hosts, and the people who deal with agents.

import { Bill } from "@perdure/agents";
import type { AnyDefinition, SdkPorts } from "@perdure/sdk";
import type { RunId } from "@perdure/protocol";
import type { Observation } from "../observations.ts";
import { Correspondent, type CorrespondentPorts } from "../outside/correspondent.ts";
import type { Process } from "../sim-host.ts";
import { type AgentParameters, type StepName, stepOf } from "./cast.ts";
import { type BentContext, defineAgents, provideGateway, type StagePorts } from "./stage.ts";
import { WatchedBill } from "./watched-bill.ts";

export interface CompanyPorts extends Pick<StagePorts, "seed" | "programs" | "faultsOn"> {
  readonly parameters: AgentParameters;
  readonly bend: BentContext | undefined;
  readonly outside: Omit<CorrespondentPorts, "parameters">;
  see(observation: Observation): void;
}

export class Company {
  readonly correspondent: Correspondent;
  readonly #ports: CompanyPorts;
  readonly #charges: Set<string> = new Set();
  readonly bill: Bill = new Bill();

  constructor(ports: CompanyPorts) {
    this.#ports = ports;
    this.correspondent = new Correspondent({ ...ports.outside, parameters: ports.parameters });
  }

  /** The agents in one life of a host. */
  define(life: Process): readonly AnyDefinition[] {
    const { seed, parameters, programs, bend, faultsOn, see } = this.#ports;
    return defineAgents({
      seed,
      parameters,
      programs,
      bend,
      faultsOn,
      bill: new WatchedBill(this.bill, (key) => {
        const step = stepNamed(key);
        const attempt = attemptOf(life, step.run);
        return () => see({ type: "paid-model", attempt, ...step });
      }),
      charges: this.#charges,
      delay: life.after,
      asked: ({ idempotencyKey, messages }) => {
        const step = stepNamed(idempotencyKey ?? "");
        const heard = messages.flatMap(({ role, text }) => (role === "user" ? [text] : [])).join("\n");
        see({ type: "asked-model", attempt: attemptOf(life, step.run), ...step, heard });
      },
      began: (run, tool, input, key) =>
        see({ type: "began-tool", attempt: attemptOf(life, run), run, tool, key, input }),
    });
  }

  provide(ports: SdkPorts): void {
    provideGateway(ports, this.#ports.parameters);
  }
}

function stepNamed(key: string): StepName {
  const step = stepOf(key);
  if (step === undefined) throw new Error(`a model is asked under the idempotency key "${key}", which names no step`);
  return step;
}

function attemptOf(life: Process, run: RunId): number | null {
  return life.watched?.attemptOf(run) ?? null;
}
