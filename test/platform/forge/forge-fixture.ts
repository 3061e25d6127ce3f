import pino, { type Logger } from 'pino';
import type { PullRequest } from '../../../forge/forge.ts';
import { setProject } from '../../../platform/admin/projects.ts';
import { createEmbeddedForge } from '../../../platform/forge/embedded-forge.ts';
import type { ForgeContext } from '../../../platform/forge/forge-context.ts';
import { createTestRepository, type TestRepository } from '../../helpers/forge-repository.ts';
import { OPERATOR_TOKEN, startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import { createDatabase, type TestDatabase } from '../../helpers/test-database.ts';

export const BRANCH = 'galley/aj_0123456789abcdef';

export type PostOptions = {
  /** '' sends no token. */
  token?: string;
  json?: object;
  form?: Record<string, string>;
  accept?: string;
};

export type ForgeResponse = { status: number; headers: Headers; text: string; json: Record<string, unknown> };

export type ForgeFixture = {
  platform: TestPlatform;
  forge: ReturnType<typeof createEmbeddedForge>;
  logger: Logger;
  forgeContext(): ForgeContext;
  /** A repository with a project. The project's webhooks go to `webhookUrl`. */
  createProject(options?: {
    files?: Record<string, string | Uint8Array>;
    bare?: boolean;
    webhookUrl?: string;
    webhookSecret?: string;
  }): Promise<TestRepository & { project: string }>;
  open(repository: TestRepository, options?: { title?: string; body?: string; branch?: string }): Promise<PullRequest>;
  get(url: string, accept?: string): Promise<ForgeResponse>;
  post(url: string, options?: PostOptions): Promise<ForgeResponse>;
  stop(): Promise<void>;
};

/** The platform with its embedded forge, and repositories on disk. */
export async function startForgeFixture(logger: Logger = pino({ level: 'silent' })): Promise<ForgeFixture> {
  const database: TestDatabase = await createDatabase();
  const platform = await startTestPlatform(database, { logger });
  const { db } = platform;
  const context = { db, publicUrl: () => platform.baseUrl, logger };
  const forge = createEmbeddedForge(context);
  const repositories: TestRepository[] = [];

  async function send(url: string, init: RequestInit): Promise<ForgeResponse> {
    const response = await fetch(url, { redirect: 'manual', ...init });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : {} };
  }

  return {
    platform,
    forge,
    logger,
    forgeContext: () => context,
    async createProject({ files = { 'README.md': '# Handbook\n' }, bare = true, webhookUrl, webhookSecret } = {}) {
      const repository = await createTestRepository(files, { bare });
      repositories.push(repository);
      const { project } = await platform.addCustomer();
      const settings = { ...(webhookUrl && { webhookUrl }), ...(webhookSecret && { webhookSecret }) };
      await setProject(db, { project, repository: repository.url, settings });
      return { ...repository, project };
    },
    async open(repository, { title = 'Name the handbook', body = 'As asked.', branch = BRANCH } = {}) {
      return await forge.openPullRequest({ repository: repository.url, branch, base: 'main', title, body });
    },
    get: (url, accept = 'application/json') => send(url, { headers: { accept } }),
    post: (url, { token = OPERATOR_TOKEN, json, form, accept = 'application/json' } = {}) =>
      send(url, {
        method: 'POST',
        headers: {
          accept,
          ...(token !== '' && { authorization: `Bearer ${token}` }),
          ...(json && { 'content-type': 'application/json' }),
        },
        ...(json && { body: JSON.stringify(json) }),
        ...(form && { body: new URLSearchParams(form) }),
      }),
    async stop() {
      await platform.stop();
      await database.stop();
      for (const repository of repositories) await repository.remove();
    },
  };
}
