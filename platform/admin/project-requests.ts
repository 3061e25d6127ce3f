import { z } from 'zod';
import { domainName, siteOrigin } from '../../contract/admin-api.ts';
import { canCompress, ZSTD_MISSING } from '../../exporter/assemble/precompress.ts';
import { projectSettings } from '../project-settings.ts';
import type { ProjectContents } from '../store/remove-project.ts';
import { label } from './text.ts';

export const projectId = z
  .string()
  .regex(/^prj_[A-Za-z0-9_-]{1,60}$/, 'expected prj_ and 1 to 60 letters, digits, "_" or "-"');

const repository = z
  .url({ protocol: /^(https?|ssh|file)$/, error: 'expected the repository as an https, http, ssh or file URL' })
  .regex(/^[^\p{C}\s]+$/u, 'expected a URL without spaces')
  // Every response about a job contains it. The worker has its own credentials for the repository.
  .refine(holdsNoSecret, 'expected a URL without user and password');

function holdsNoSecret(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { protocol, username, password } = new URL(text);
  return password === '' && (username === '' || protocol === 'ssh:');
}

/** A branch name as `git check-ref-format` allows it, roughly: never an option, never a path outside. */
const ref = z
  .string()
  .max(200)
  .regex(/^(?!.*(?:\.\.|\/\/|@\{|\.lock$|[/.]$))[A-Za-z0-9_][A-Za-z0-9._/-]*$/, 'expected a branch name');

/** PostgreSQL keeps no NUL and no half of a character in JSON. */
function isPrintable(text: string | null): boolean {
  return text === null || /^\P{C}*$/u.test(text);
}

/** Changes of the settings; what is not named stays. */
export const settingsChange = z.strictObject({
  external: projectSettings.shape.external.unwrap().optional(),
  scripts: projectSettings.shape.scripts.unwrap().optional(),
  sourceMaps: projectSettings.shape.sourceMaps.unwrap().optional(),
  robots: projectSettings.shape.robots.unwrap().optional(),
  render: projectSettings.shape.render.unwrap().optional(),
  discover: projectSettings.shape.discover.unwrap().optional(),
  incremental: projectSettings.shape.incremental.unwrap().optional(),
  basePath: projectSettings.shape.basePath.unwrap().optional(),
  precompress: projectSettings.shape.precompress
    .unwrap()
    .refine((codings) => codings.every(canCompress), ZSTD_MISSING)
    .optional(),
  search: projectSettings.shape.search.unwrap().optional(),
  markdown: projectSettings.shape.markdown.unwrap().optional(),
  agentPaths: projectSettings.shape.agentPaths.unwrap().optional(),
  prove: projectSettings.shape.prove.unwrap().optional(),
  webhookUrl: projectSettings.shape.webhookUrl.unwrap().refine(isPrintable, 'expected printable characters').optional(),
  webhookSecret: projectSettings.shape.webhookSecret
    .unwrap()
    .refine(isPrintable, 'expected printable characters')
    .optional(),
});

export const addProjectRequest = z.strictObject({
  organization: label,
  project: projectId,
  domain: domainName,
  origin: siteOrigin.nullable().optional(),
  repository: repository.nullable().optional(),
  ref: ref.nullable().optional(),
  settings: settingsChange.optional(),
});
export type AddProjectRequest = z.input<typeof addProjectRequest>;

/** Null clears; what isn't named stays. */
export const setProjectRequest = addProjectRequest.partial().required({ project: true });
export type SetProjectRequest = z.input<typeof setProjectRequest>;

export const moveProjectRequest = z.strictObject({ organization: label });
export type MoveProjectRequest = z.infer<typeof moveProjectRequest>;

/** A project as operators see it: everything but the webhook's secret. */
export const projectListing = z.object({
  project: z.string(),
  organization: z.string(),
  domain: z.string(),
  origin: z.string().nullable(),
  repository: z.string().nullable(),
  ref: z.string().nullable(),
  settings: projectSettings.omit({ webhookSecret: true }).extend({ webhookSecretSet: z.boolean() }),
});
export type ProjectListing = z.infer<typeof projectListing>;

/** What is deleted with a project (`ProjectContents`). */
const projectContents = z.object({
  exports: z.number(),
  bundles: z.number(),
  bundleBytes: z.number(),
  agentJobs: z.number(),
  /** Ids of jobs that haven't ended: the project can't be removed until they have. */
  runningExports: z.array(z.string()),
  runningAgentJobs: z.array(z.string()),
}) satisfies z.ZodType<ProjectContents>;

export const projectWithContents = projectListing.extend({ contents: projectContents });
export type ProjectWithContents = z.infer<typeof projectWithContents>;

/** `contents=delete`: also if the project has jobs. */
export const removeProjectQuery = z.strictObject({ contents: z.literal('delete').optional() });
