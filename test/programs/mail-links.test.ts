import { pino } from 'pino';
import { galleyConfig } from '../../programs/config/galley-yaml.ts';
import { readSettings } from '../../programs/settings/environment.ts';
import { mailLinksOf } from '../../programs/worker.ts';

const rule = { name: 'changelog', on: 'publish', prompt: 'Update the changelog.' };
const smtp = { url: 'smtp://127.0.0.1:1025', from: 'galley@example.com' };

/** The settings of the mails' links, and the log lines. */
function links(variables: Record<string, string>, { agent = [rule], sections = { smtp } }: Fields = {}) {
  const lines: string[] = [];
  const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) });
  const adminApi = { url: 'http://127.0.0.1', key: 'galley_key' };
  const config = galleyConfig.parse({ adminApi, ...sections, sites: { docs: { domain: 'docs.example.com', agent } } });
  return { ...mailLinksOf(readSettings(variables), config, logger), lines };
}
type Fields = { agent?: object[]; sections?: object };

const API_PUBLIC_URL = 'https://hooks.example.com/';
const UNSUBSCRIBE_SECRET = 'a secret of the links';

describe('unsubscribe links', () => {
  test('are signed with a separate secret', () => {
    expect(links({ API_PUBLIC_URL, UNSUBSCRIBE_SECRET })).toEqual({
      publicUrl: 'https://hooks.example.com',
      unsubscribeKey: UNSUBSCRIBE_SECRET,
      lines: [],
    });
  });

  test('are signed with the Admin API key if there is no such secret, with a log line', () => {
    const { unsubscribeKey, lines } = links({ API_PUBLIC_URL });
    expect(unsubscribeKey).toBe('galley_key');
    expect(lines).toEqual([expect.stringMatching(/"level":40.*UNSUBSCRIBE_SECRET is not set: the Admin API key/)]);
    expect(lines.join()).not.toContain('galley_key');
  });

  test('are missing without a public URL, with a log line', () => {
    const { publicUrl, lines } = links({ HOST: '127.0.0.1', PORT: '3000' });
    expect(publicUrl).toBeUndefined();
    expect(lines).toEqual([expect.stringContaining('API_PUBLIC_URL is not set: mails have no unsubscribe link')]);
  });

  test.each<[string, Fields]>([
    ['no mail server', { sections: {} }],
    ['no agent rule', { agent: [] }],
  ])('are not mentioned in the log with %s', (_, fields) => {
    expect(links({ API_PUBLIC_URL }, fields).lines).toEqual([]);
  });
});
