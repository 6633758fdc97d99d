import { useState, type ReactNode } from "react";
import { useMessages } from "../../i18n/use-messages.ts";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Segmented } from "../../ui/segmented.tsx";
import { cliCommand, curlCommand, type Call } from "./call-request.ts";

/** The same call, to be pasted elsewhere. */
export function CallCommands({ call, hasToken }: { readonly call: Call; readonly hasToken: boolean }): ReactNode {
  const t = useMessages().services.call;
  const [by, setBy] = useState<"cli" | "curl">("cli");
  return (
    <div className="call-commands">
      <Segmented
        label={t.elsewhere}
        value={by}
        options={[
          { value: "cli", label: "CLI" },
          { value: "curl", label: "curl" },
        ]}
        onChange={setBy}
      />
      <CommandLine command={by === "cli" ? cliCommand(call) : curlCommand(call, location.origin, hasToken)} />
    </div>
  );
}
