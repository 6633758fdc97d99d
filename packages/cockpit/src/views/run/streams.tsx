// The streams of a run, as they arrive: which there are, and the end of one of them.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Waves } from "lucide-react";
import { useEffect, useState, type ReactNode } from "react";
import type { RunId, RunStreamsAnswer } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useLiveVersion } from "../../live/use-live.ts";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import type { RunSearch } from "./run-search.ts";
import { StreamTail } from "./stream-tail.tsx";
import "./streams.css";

/** Appends of steps that run are told to no page but a stream's own. */
const LOOK_AGAIN_MS = 5_000;

export interface StreamsProps {
  readonly of: RunId;
  readonly search: RunSearch;
  readonly onSearch: (search: RunSearch) => void;
}

export function Streams({ of: run, search, onSearch }: StreamsProps): ReactNode {
  const t = useMessages().run.streams;
  const format = useFormat();
  const { data, error, refetch } = useStreams(run);
  const [opened, setOpened] = useState<string | null>(null);
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  const { owner, streams } = data;
  // Who reads one is not taken away from it when another one begins.
  const [first] = streams;
  if (opened === null && first !== undefined) setOpened(first.name);
  const chosen = streams.find(({ name }) => name === (search.stream ?? opened)) ?? first;
  if (chosen === undefined)
    return (
      <Empty icon={<Waves aria-hidden />} title={t.none}>
        <p>{t.noneHelp}</p>
      </Empty>
    );
  const base = "run" in owner ? path`/runs/${owner.run}/streams/` : path`/streams/${owner.service}/${owner.key}/`;
  return (
    <div className="streams">
      <div className="stream-names" role="group" aria-label={t.title}>
        {streams.map(({ name, start, end }) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === chosen.name}
            onClick={() => onSearch({ tab: "streams", stream: name })}
          >
            {visibleLine(name)} <span className="dim">{format.number(end - start)}</span>
          </button>
        ))}
      </div>
      <StreamTail key={base + chosen.name} address={base + encodeURIComponent(chosen.name)} end={chosen.end} />
    </div>
  );
}

function useStreams(run: RunId) {
  const api = useApi();
  const queries = useQueryClient();
  const version = useLiveVersion(LOOK_AGAIN_MS);
  useEffect(() => {
    void queries.invalidateQueries({ queryKey: ["run-streams", run] });
  }, [queries, run, version]);
  return useQuery({
    queryKey: ["run-streams", run],
    queryFn: ({ signal }) => api.get<RunStreamsAnswer>(path`/runs/${run}/streams`, { signal }),
    placeholderData: (before) => before,
  });
}
