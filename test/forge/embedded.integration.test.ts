import pino from 'pino';
import { createEmbeddedForgeReader } from '../../forge/embedded.ts';
import { createKey } from '../../platform/admin/api-keys.ts';
import { createEmbeddedForge } from '../../platform/forge/embedded-forge.ts';
import { connectDatabase } from '../../platform/store/database.ts';
import { createTestRepository } from '../helpers/forge-repository.ts';
import { freePort } from '../helpers/free-port.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { OPERATOR_TOKEN, startTestPlatform } from '../helpers/platform-api.ts';
import { startSilentServer } from '../helpers/silent-server.ts';
import { createDatabase } from '../helpers/test-database.ts';
import { caught } from './caught.ts';
import { describeForge } from './forge.contract.ts';
import type { ForgeFixture } from './forge-fixture.ts';

const logger = pino({ level: 'silent' });

const EVENTS = { approved: 'APPROVE', 'changes-requested': 'REQUEST_CHANGES', commented: 'COMMENT' } as const;

async function startFixture(): Promise<ForgeFixture> {
  const database = await createDatabase();
  const platform = await startTestPlatform(database);
  const { db, baseUrl } = platform;
  const { key } = await createKey(db, { organization: 'Readers', plan: 'free' });
  const repositories: Awaited<ReturnType<typeof createTestRepository>>[] = [];
  const hanging = await startSilentServer();
  const awayPort = await freePort();

  /** A writer for a database at this port. It uses the fixture's public URL, so that it recognizes its own links. */
  const writerAt = (port: number) => {
    const url = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`;
    const db = connectDatabase({ url, logger, connectTimeoutMs: 500, queryTimeoutMs: 500 });
    return createEmbeddedForge({ db, publicUrl: () => baseUrl, logger });
  };
  const readerAt = (port: number) =>
    createEmbeddedForgeReader({ url: `http://127.0.0.1:${port}`, operatorToken: OPERATOR_TOKEN, timeoutMs: 500 });

  async function post(url: string, body?: object): Promise<void> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${OPERATOR_TOKEN}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  }

  return {
    writer: createEmbeddedForge({ db, publicUrl: () => baseUrl, logger }),
    reader: createEmbeddedForgeReader({ url: baseUrl, operatorToken: OPERATOR_TOKEN }),
    async createRepository(files) {
      const repository = await createTestRepository(files);
      repositories.push(repository);
      return {
        repository: repository.url,
        commit: repository.commit,
        async merge(url) {
          await post(`${url}/merge`);
          return await repository.git('rev-parse', 'main');
        },
        close: (url) => post(`${url}/close`),
        review: (url, { login }, verdict, { body } = { body: '', comments: [] }) =>
          post(`${url}/reviews`, { event: EVENTS[verdict], reviewer: login, body }),
      };
    },
    commentsOnLines: false,
    people: {
      author: { login: 'galley', mail: null },
      reviewers: [
        { login: 'ada', mail: null },
        { login: 'grace', mail: null },
      ],
      unknown: null,
      hidden: null,
    },
    unknownRepository: 'file:///nowhere/at/all.git',
    wrongToken: { writer: null, reader: createEmbeddedForgeReader({ url: baseUrl, operatorToken: 'wrong' }) },
    lackingRights: {
      writer: null,
      reader: createEmbeddedForgeReader({ url: baseUrl, operatorToken: key }),
      right: /operator token/,
    },
    away: { writer: writerAt(awayPort), reader: readerAt(awayPort) },
    hanging: { writer: writerAt(hanging.port), reader: readerAt(hanging.port) },
    async stop() {
      await hanging.stop();
      await platform.stop();
      await database.stop();
      for (const repository of repositories) await repository.remove();
    },
  };
}

describeForge('embedded in the platform', startFixture);

describe('the reader of the embedded forge', () => {
  const id = `pr_${'0'.repeat(32)}`;

  it('sends no request for a link that is not a page of an embedded forge', async () => {
    const reader = createEmbeddedForgeReader({ url: 'http://127.0.0.1:9/platform', operatorToken: OPERATOR_TOKEN });
    const foreign = [
      `ftp://127.0.0.1:9/platform/pulls/${id}`,
      'https://github.com/acme/docs/pull/7',
      `http://127.0.0.1:9/platform/pulls/${id}/../../elsewhere`,
      `http://127.0.0.1:9/platform/pulls/${id}0`,
      'nonsense',
    ];
    for (const link of foreign) {
      expect(await caught(reader.readPullRequest(link))).toMatchObject({ status: null, retryable: false });
    }
  });

  it('creates a review link for an open pull request, and rejects that for an ended one', async () => {
    const fixture = await startFixture();
    try {
      const { repository, commit, close } = await fixture.createRepository({ 'README.md': '# Handbook\n' });
      await commit('galley/aj_0123456789abcdef', { 'README.md': '# Ours\n' });
      const branch = { repository, branch: 'galley/aj_0123456789abcdef' };
      const opened = await fixture.writer.openPullRequest({ ...branch, base: 'main', title: 'Ours', body: '' });
      const link = await fixture.reader.reviewLink(opened.url, 'ada@example.com');
      expect(link?.startsWith(`${opened.url}/review?key=review_`)).toBe(true);
      await close(opened.url);
      const failure = await caught(fixture.reader.reviewLink(opened.url, 'ada@example.com'));
      expect(failure).toMatchObject({ status: 409, retryable: false });
    } finally {
      await fixture.stop();
    }
  });

  it('sends its token only to the configured URL, even for links with another host', async () => {
    const { origin, requests, close } = await startHttpSite((_request, response) => response.writeHead(404).end());
    const reader = createEmbeddedForgeReader({ url: `${origin}/inside`, operatorToken: OPERATOR_TOKEN });
    const failure = await caught(reader.readPullRequest(`https://platform.example.com/pulls/${id}`));
    await close();
    expect(failure).toMatchObject({ status: 404, retryable: false });
    expect(requests).toEqual([`/inside/pulls/${id}`]);
  });
});
