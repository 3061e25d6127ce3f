import { configuredSources } from '../../../api/sources/configured-source.ts';
import type { Reading } from '../../../api/sources/source.ts';
import type { Only } from '../../../contract/webhook-sources.ts';
import { configWith } from '../running-api.ts';

const delivery = { id: 'delivery-1', receivedAt: new Date('2026-11-21T08:00:00.000Z') };

type Choice = { [Key in keyof Only]: string | readonly string[] };

function read(source: 'github' | 'contentful', only: Choice, body: unknown, headers: Record<string, string>): Reading {
  const { sites } = configWith({ docs: { webhooks: { [source]: { secret: 'x', only } } } });
  const found = configuredSources(sites.docs?.webhooks ?? {}).get(source);
  if (found === undefined) throw new Error(`no source ${source}`);
  const request = { method: 'POST', path: '/', header: (name: string) => headers[name], body: Buffer.alloc(0) };
  return found.source.read(request, body, delivery);
}

const entry = (contentType?: string) => ({
  sys: { id: 'e1', ...(contentType && { contentType: { sys: { id: contentType } } }) },
});
const published = { 'x-contentful-topic': 'ContentManagement.Entry.publish' };

const push = (commits: readonly object[]) => ({ ref: 'refs/heads/main', after: 'abc', commits });
const pushed = { 'x-github-event': 'push' };
const commit = (files: readonly string[]) => ({ id: 'abc', added: [], modified: files, removed: [] });

describe('a source that publishes only some deliveries', () => {
  test('takes those whose topic matches, and says of the others what kept them back', () => {
    const only = { topic: ['ContentManagement.*.publish'] };
    expect(read('contentful', only, entry(), published)).toMatchObject({ kind: 'publish' });
    const unpublished = { 'x-contentful-topic': 'ContentManagement.Entry.unpublish' };
    expect(read('contentful', only, entry(), unpublished)).toEqual({
      kind: 'filtered',
      topic: 'ContentManagement.Entry.unpublish',
      why: 'only.topic',
    });
  });

  test('takes those of the content types named, and those that tell none', () => {
    const only = { contentType: ['article', 'page*'] };
    expect(read('contentful', only, entry('article'), published).kind).toBe('publish');
    expect(read('contentful', only, entry('pageSection'), published).kind).toBe('publish');
    expect(read('contentful', only, entry('author'), published)).toMatchObject({ why: 'only.contentType' });
    expect(read('contentful', only, entry(), published).kind).toBe('publish');
  });

  test('takes a push that changes any file below the paths named, with a leading slash or without', () => {
    for (const path of ['docs/**', '/docs/**', 'DOCS/**']) {
      const changed = push([commit(['src/a.ts']), commit(['docs/.vitepress/config.ts'])]);
      expect(read('github', { path }, changed, pushed).kind).toBe('publish');
      expect(read('github', { path }, push([commit(['src/a.ts', 'documents.md'])]), pushed)).toMatchObject({
        kind: 'filtered',
        why: 'only.path',
      });
    }
  });

  test('takes a push that may not tell every file', () => {
    const only = { path: 'docs/**' };
    const many = Array.from({ length: 20 }, () => commit(['src/a.ts']));
    for (const commits of [[], [{ id: 'abc' }], many]) {
      expect(read('github', only, push(commits), pushed).kind).toBe('publish');
    }
  });

  test('is refused with a pattern that is empty or a key that is none', () => {
    const configure = (only: object) => () => configWith({ docs: { webhooks: { contentful: { secret: 'x', only } } } });
    expect(configure({ topic: '' })).toThrow(/a pattern must not be empty/);
    expect(configure({ topic: [] })).toThrow(/topic/);
    expect(configure({ branch: 'main' })).toThrow(/branch/);
  });
});
