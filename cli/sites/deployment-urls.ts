import { createContext } from '../context.ts';
import { openHome } from '../home.ts';

/** The URLs of the deployments of the running `up`, by their values files; none for an api elsewhere. */
export async function deploymentUrls({ url }: { url?: string | undefined }): Promise<ReadonlyMap<string, string>> {
  const running = url === undefined ? await openHome(createContext().settings.home).running() : undefined;
  return new Map((running?.deployments ?? []).map((each) => [each.valuesFile, each.url]));
}
