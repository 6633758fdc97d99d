/** The code of a run in an isolate is a deployment of its own, named by its hash. Only such runs have images. */
export function isBundle(deployment: string | null): boolean {
  return deployment !== null && /^[0-9a-f]{64}$/.test(deployment);
}
