import type { Octokit } from '@octokit/rest';
import type { RepositoryTarget } from './connection.ts';
import { refusalOf } from './refusal.ts';
import { blobResponse, fileResponse } from './responses.ts';

/** The first of these files at a branch, as text; null if there is none. A folder of that name doesn't count. */
export async function readFirstFile(
  client: Octokit,
  { paths, branch, ...target }: RepositoryTarget & { paths: readonly string[]; branch: string },
): Promise<string | null> {
  for (const path of paths) {
    const response = await client.rest.repos.getContent({ ...target, path, ref: branch }).catch((error: unknown) => {
      if (refusalOf(error)?.status === 404) return null;
      throw error;
    });
    const file = response && fileResponse.parse(response.data);
    if (!file) continue;
    if (file.encoding === 'base64') return decode(file.content ?? '');
    // GitHub omits contents over 1 MB.
    const blob = await client.rest.git.getBlob({ ...target, file_sha: file.sha });
    return decode(blobResponse.parse(blob.data).content);
  }
  return null;
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}
