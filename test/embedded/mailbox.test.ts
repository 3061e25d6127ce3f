import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import nodemailer from 'nodemailer';
import { type Mailbox, startMailbox } from '../../embedded/mailbox/mailbox.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

async function answers(url: string): Promise<boolean> {
  return await fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

const MAIL = {
  from: 'Galley <galley@example.com>',
  to: 'ada@example.com',
  subject: 'Prüfung',
  text: 'plain',
  html: '<p>rich</p>',
  messageId: '<one@galley.example.com>',
};

describe('the embedded mailbox', () => {
  let mailbox: Mailbox;

  beforeAll(async () => {
    mailbox = await startMailbox();
  });

  afterAll(() => mailbox?.stop());

  test('accepts a mail over SMTP, and returns its parts, headers and envelope', async () => {
    const transport = nodemailer.createTransport(mailbox.smtpUrl);
    await transport.sendMail(MAIL);
    const [mail] = await waitFor(
      async () => {
        const mails = await mailbox.mails();
        return mails.length > 0 && mails;
      },
      { describe: 'received the mail' },
    );
    if (mail === undefined) throw new Error('The mail is missing');
    expect(mail).toMatchObject({
      subject: 'Prüfung',
      text: expect.stringContaining('plain'),
      html: expect.stringContaining('<p>rich</p>'),
      headers: { 'message-id': '<one@galley.example.com>' },
      to: [{ address: 'ada@example.com', name: '' }],
      envelope: { to: [{ address: 'ada@example.com' }] },
    });
    expect(await mailbox.rawMail(mail)).toContain('Subject: =?UTF-8?');
    expect(await answers(mailbox.pageOf(mail))).toBe(true);
  });
});

describe('the embedded mailbox leaves nothing behind', () => {
  /** A separate temporary folder, so that the test can see leftovers. */
  const temporary = emptiedFolder();

  /** Starts a process that starts a mailbox, prints the URL of its page, and then runs `next`. */
  function start(next: string): ChildProcessByStdio<null, Readable, null> {
    const script = `
      const { startMailbox } = await import('./embedded/mailbox/mailbox.ts');
      const mailbox = await startMailbox();
      console.log(mailbox.webUrl);
      ${next}`;
    return spawn(process.execPath, ['--import', './scripts/typescript.js', '--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: temporary },
    });
  }

  async function urlOf(child: ChildProcessByStdio<null, Readable, null>): Promise<string> {
    const [chunk] = await once(child.stdout, 'data');
    return String(chunk).trim();
  }

  const mailFolders = async (): Promise<string[]> =>
    (await readdir(temporary)).filter((name) => name.startsWith('galley-mailbox-') || name.startsWith('maildev-'));

  test('after a stop', async () => {
    const child = start(`
      const { readdirSync } = await import('node:fs');
      if (readdirSync(process.env.TMPDIR).length === 0) throw new Error('The mailbox stores its mails elsewhere');
      await mailbox.stop();`);
    const url = await urlOf(child);
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(await answers(url)).toBe(false);
    expect(await mailFolders()).toEqual([]);
  });

  test('no process, if its parent is killed', async () => {
    const parent = start('');
    const url = await urlOf(parent);
    expect(await answers(url)).toBe(true);
    parent.kill('SIGKILL');
    await waitFor(async () => !(await answers(url)), { describe: 'ended' });
  });
});
