import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { createHttpTarget } from '../../../../activities/deployments/targets/http.ts';
import { startNotificationReceiver } from '../../../helpers/notification-receiver.ts';
import { deploymentWrite } from '../deployment-write.ts';
import { describeTarget } from './contract.ts';

const secret = `whsec_${Buffer.from('a secret of the deploy hook').toString('base64')}`;
const hook = z.object({ version: z.string() });

describeTarget(
  'http',
  async () => {
    const receiver = await startNotificationReceiver();
    /** As a deploy hook works: a message that it has already changes nothing. */
    const accepted = new Map<string, string>();
    let mode: 'accept' | 'fail' | 'hang' = 'accept';
    let hanging = false;
    receiver.answer = (response, { headers, body }) => {
      if (mode === 'hang') hanging = true;
      else if (mode === 'fail') response.writeHead(500).end();
      else {
        new Webhook(secret).verify(body, headers as Record<string, string>);
        const id = String(headers['webhook-id']);
        if (!accepted.has(id)) accepted.set(id, hook.parse(JSON.parse(body)).version);
        response.end();
      }
    };
    return {
      target: createHttpTarget('hook', { url: receiver.url, secret }),
      version: async () => [...accepted.values()].at(-1) ?? null,
      fingerprint: async () => JSON.stringify([...accepted]),
      async fail() {
        mode = 'fail';
      },
      async repair() {
        mode = 'accept';
      },
      async hang() {
        mode = 'hang';
        return { reached: () => hanging };
      },
      close: receiver.close,
    };
  },
  { remembers: false },
);

describe('the message to a deploy hook', () => {
  it('has the site, the version, the job, the link with its integrity and its end, and no error names the secret path', async () => {
    const receiver = await startNotificationReceiver();
    try {
      const target = createHttpTarget('hook', { url: receiver.url, secret: [secret, secret] });
      const link = { bundleUrl: 'https://objects.test/1', expiresAt: '2026-11-25T08:00:00Z' };
      const integrity = `sha256-${'A'.repeat(43)}=`;
      const write = deploymentWrite({ kind: 'refresh', integrity, ...link });
      const context = { site: 'docs', signal: new AbortController().signal };
      await target.write(write, context);
      expect(receiver.bodies()).toEqual([
        { kind: 'refresh', site: 'docs', version: 'v1', jobId: 'se_1', integrity, ...link },
      ]);
      expect(String(receiver.received[0]?.headers['webhook-signature']).split(' ')).toHaveLength(2);
      receiver.answer = (response) => response.writeHead(301, { location: 'https://elsewhere.test' }).end();
      await expect(target.write(write, context)).rejects.toThrow(
        /^the deploy hook returned 301: redirects are not followed, set the URL that it leads to$/,
      );
    } finally {
      await receiver.close();
    }
  });
});
