import type { ExportRig } from '../export-rig.ts';

/** The crawls that ended exports left in the database, and the objects in the store that no row refers to. */
export async function leftByExports(
  { db, objects }: Pick<ExportRig, 'db' | 'objects'>,
  jobIds: readonly string[],
): Promise<{ crawls: string[]; keys: string[] }> {
  const ids = jobIds.map((id) => `'${id}'`).join();
  const { rows } = await db.execute<{ kind: string; name: string }>(`
    select 'crawl' as kind, job_id as name from crawls where job_id in (${ids})
    union select 'crawl', job_id from crawl_urls where job_id in (${ids})
    union select 'crawl', job_id from crawl_batches where job_id in (${ids})
    union select 'key', object_key from crawl_urls where job_id in (${ids})
    union select 'key', archive_key from export_jobs where status = 'completed' order by name`);
  const named = (kind: string) => rows.flatMap((row) => (row.kind === kind ? row.name : []));
  const needed = new Set(named('key'));
  const keys: string[] = [];
  for (const prefix of ['bundles/', ...jobIds.map((id) => `exports/${id}/`)]) {
    for await (const key of objects.list(prefix)) if (!needed.has(key)) keys.push(key);
  }
  return { crawls: named('crawl'), keys };
}
