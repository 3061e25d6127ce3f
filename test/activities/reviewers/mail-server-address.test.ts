import type { Delivery } from '../../../activities/reviewers/delivery.ts';
import { createMailer } from '../../../activities/reviewers/mailer.ts';
import { startScriptedSmtp } from '../../helpers/smtp-server.ts';
import { closing, deliver } from './deliver.ts';

describe('a password', () => {
  it('is sent unencrypted to this machine only, or where that is asked for', async () => {
    const server = await startScriptedSmtp(({ stage }) =>
      stage === 'EHLO' ? { answer: '250-scripted.test\r\n250 AUTH PLAIN' } : undefined,
    );
    closing.push(() => server.close());
    const { port } = new URL(server.url);
    const outcomeOf = async (address: string): Promise<Delivery> => {
      const mailer = createMailer({ url: `smtp://me:secret@${address}`, from: 'galley@example.com' });
      closing.push(() => mailer.close());
      return await deliver(mailer);
    };
    // This address leads here too, but isn't known as local.
    expect(await outcomeOf(`0.0.0.0:${port}`)).toMatchObject({ kind: 'unsent', reason: expect.stringMatching(/TLS/) });
    expect(server.otherCommands).toEqual(['STARTTLS']);
    expect(await outcomeOf(`127.0.0.1:${port}`)).toMatchObject({ kind: 'accepted' });
    expect(await outcomeOf(`0.0.0.0:${port}?requireTLS=false`)).toMatchObject({ kind: 'accepted' });
  });
});

describe('the sender', () => {
  it.each(['nobody', 'a@example.com, b@example.com', 'Group: a@example.com, b@example.com;', ''])(
    'can’t be %j',
    (from) => {
      expect(() => createMailer({ url: 'smtp://127.0.0.1:1', from })).toThrow('smtp.from');
    },
  );
});
