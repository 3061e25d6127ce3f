import { type AdminApiClient, AdminApiError, type Bundle, type ExportJob } from '../../client/admin-api-client.ts';
import type { CreateOptions, RequestOptions } from '../../client/send-request.ts';
import { basePath, type StaticExportForm } from '../../contract/admin-api.ts';

/** Where a site's exports are at the service. Form `project` needs the project. */
export type ExportPlace = { projectId?: string | undefined };
export type ExportRef = ExportPlace & { jobId: string };
export type ExportStart = ExportPlace & { domain: string; basePath?: string | undefined };

/** Static export, whichever form the service has. Methods throw AdminApiError; 404 for what a form doesn't have. */
export type StaticExport = {
  /** The service's form. `auto` asks it once. */
  form(place: ExportPlace, options: RequestOptions): Promise<StaticExportForm>;
  start(start: ExportStart, options: CreateOptions): Promise<ExportJob>;
  get(ref: ExportRef, options: RequestOptions): Promise<ExportJob>;
  /** 409 if the job isn't completed, 410 if its bundle is no longer stored. */
  bundle(ref: ExportRef, options: RequestOptions): Promise<Bundle>;
  list: AdminApiClient['exports']['list'];
  report(ref: ExportRef, options: RequestOptions): ReturnType<AdminApiClient['exports']['report']>;
  preview(ref: ExportRef, options: RequestOptions): ReturnType<AdminApiClient['exports']['preview']>;
  cancel(ref: ExportRef, options: RequestOptions): ReturnType<AdminApiClient['exports']['cancel']>;
};

/** The port of static export over a client, in the form that galley.yaml names. */
export function createStaticExport(client: AdminApiClient, setting: StaticExportForm | 'auto'): StaticExport {
  let found: StaticExportForm | null = setting === 'auto' ? null : setting;
  const { exports, projectExports } = client;

  const form = async ({ projectId }: ExportPlace, { onResponse: _, ...options }: RequestOptions) => {
    found ??= await client.findForm(projectId, options);
    return found;
  };
  /** Undefined in form `domain`. */
  const projectOf = async (place: ExportPlace, options: RequestOptions): Promise<string | undefined> => {
    if ((await form(place, options)) === 'domain') return undefined;
    if (place.projectId !== undefined) return place.projectId;
    const reason = 'the Admin API has form `project`: set projectId of the site in galley.yaml';
    throw new AdminApiError('static export', { status: null, reason });
  };
  /** What only form `domain` has. */
  const inFormDomain =
    <Result>(what: string, request: (jobId: string, options: RequestOptions) => Promise<Result>) =>
    async ({ jobId, ...place }: ExportRef, options: RequestOptions): Promise<Result> => {
      if ((await projectOf(place, options)) !== undefined) throw absent(what);
      return await request(jobId, options);
    };

  return {
    form,
    async start({ domain, basePath: path, ...place }, options) {
      const projectId = await projectOf(place, options);
      if (projectId === undefined) return await exports.start({ domain }, options);
      const body = path === undefined ? {} : { basePath: basePath.parse(path) };
      return await projectExports.start(projectId, body, options);
    },
    async get({ jobId, ...place }, options) {
      const projectId = await projectOf(place, options);
      if (projectId === undefined) return await exports.get(jobId, options);
      return await projectExports.get(projectId, jobId, options);
    },
    async bundle({ jobId, ...place }, options) {
      const projectId = await projectOf(place, options);
      if (projectId === undefined) return await exports.bundle(jobId, options);
      const job = await projectExports.get(projectId, jobId, options);
      const { status, bundleUrl, expiresAt, sizeBytes, version } = job;
      const failed = (code: number, reason: string) =>
        new AdminApiError(`the bundle of ${jobId}`, { status: code, reason });
      if (status !== 'completed') throw failed(409, `the job is ${status}`);
      if (bundleUrl === undefined) throw failed(410, 'the completed job has no bundleUrl');
      return { jobId, bundleUrl, expiresAt, sizeBytes, sha256: null, manifestSha256: undefined, version };
    },
    list: exports.list,
    report: inFormDomain('report', exports.report),
    preview: inFormDomain('preview', exports.preview),
    cancel: inFormDomain('cancellation', exports.cancel),
  };
}

/** The error of a request that the form doesn't have. */
export function absent(what: string): AdminApiError {
  return new AdminApiError('static export', { status: 404, reason: `form \`project\` has no ${what}` });
}
