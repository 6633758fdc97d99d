// Deployments: the bundles that are stored, what new runs begin on, and which runs have which.

import type { Environment, Store } from "@perdure/engine";
import type { DeploymentView, RunStatus, ServiceManifest } from "@perdure/protocol";

/** The newest first. */
export async function deploymentsOf(
  { artifacts, reader }: Pick<Store, "artifacts" | "reader">,
  { deployment }: Pick<Environment, "deployment">,
  services: readonly ServiceManifest[],
): Promise<readonly DeploymentView[]> {
  const [stored, counts] = await Promise.all([artifacts.list(), reader.deployments()]);
  const bases = stored.filter(({ kind }) => kind === "base");
  const views = stored
    .filter(({ kind }) => kind === "bundle")
    .map(({ hash, size, about }): DeploymentView => {
      const runs: Partial<Record<RunStatus, number>> = {};
      for (const { deployment: of, status, count } of counts) if (of === hash) runs[status] = count;
      return {
        hash,
        entry: about["entry"] ?? "",
        createdAt: about["createdAt"] ?? null,
        services: services.filter((one) => beginsOn(one, hash, deployment)).map(({ name }) => name),
        bytes: size,
        bases: bases
          .filter((base) => base.about["bundle"] === hash)
          .map((base) => ({ hash: base.hash, bytes: base.size })),
        runs,
      };
    });
  return views.sort((a, b) => (b.createdAt ?? "").localeCompare(a.createdAt ?? ""));
}

function beginsOn({ name, handlers }: ServiceManifest, hash: string, deployment: Environment["deployment"]): boolean {
  const [first] = handlers;
  return first !== undefined && deployment({ service: name, handler: first.name }) === hash;
}
