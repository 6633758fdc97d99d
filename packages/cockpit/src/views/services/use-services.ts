import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { ServiceManifest, ServicesAnswer } from "@perdure/protocol";
import { useApi } from "../../app/app-context.ts";

/** What is served changes with a new start only: then the connection is lost, and all is read again. */
export function useServices(): UseQueryResult<readonly ServiceManifest[]> {
  const api = useApi();
  return useQuery({
    queryKey: ["services"],
    queryFn: ({ signal }) => api.get<ServicesAnswer>("/services", { signal }),
    select: ({ services }) => services,
    staleTime: 60_000,
  });
}
